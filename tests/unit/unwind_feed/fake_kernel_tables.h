// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "unwind_feed/kernel_tables.h"

namespace bobbin::unwind_feed {

// The maps in memory, and what was called, in order. Can be made to fail.
class FakeKernelTables final : public KernelTables {
public:
    Result<> write_words(std::uint32_t first_word, std::span<const std::uint32_t> words) override {
        BOBBIN_CHECK(call("words"));
        for (std::size_t i = 0; i < words.size(); ++i) {
            const auto bucket = buckets.find((first_word + i) / abi::BUCKET_WORDS);
            if (bucket == buckets.end()) return fail("no such bucket");
            bucket->second[(first_word + i) % abi::BUCKET_WORDS] = words[i];
        }
        return {};
    }
    Result<> write_special_rules(std::uint32_t first_index,
                                 std::span<const abi::special_rule> written) override {
        BOBBIN_CHECK(call("rules"));
        rules[first_index] = written.front();
        return {};
    }
    Result<> write_macros(std::uint32_t first_index, std::span<const abi::macro> written) override {
        BOBBIN_CHECK(call("macros"));
        macros[first_index] = written.front();
        return {};
    }
    Result<> set_executable(std::uint32_t executable_id,
                            const abi::executable& executable) override {
        BOBBIN_CHECK(call("executable"));
        executables[executable_id] = executable;
        return {};
    }
    Result<> set_file(const abi::file_key& key, const abi::file_entry& entry) override {
        BOBBIN_CHECK(call("file"));
        files[key.inode] = entry;
        return {};
    }
    [[nodiscard]] std::size_t id_count() const override { return most_files; }
    Result<> forget_file(const abi::file_key& key) override {
        BOBBIN_CHECK(call("forget file"));
        files.erase(key.inode);
        return {};
    }
    void begin_forgetting() override { calls.emplace_back("begin forgetting"); }
    void end_forgetting() override { calls.emplace_back("end forgetting"); }
    Result<> add_free_id(std::uint32_t executable_id) override {
        BOBBIN_CHECK(call("add free id"));
        free_ids.push_back(executable_id);
        return {};
    }
    Result<> add_bucket(std::uint32_t bucket) override {
        BOBBIN_CHECK(call("add bucket"));
        buckets[bucket].resize(abi::BUCKET_WORDS);
        most_buckets = std::max(most_buckets, buckets.size());
        return {};
    }
    Result<> drop_bucket(std::uint32_t bucket) override {
        BOBBIN_CHECK(call("drop bucket"));
        buckets.erase(bucket);
        return {};
    }
    void void_remembered_rules() override { calls.emplace_back("void remembered"); }
    Result<> wait_for_walks() override { return call("wait"); }

    // The call of this number, counted from now, fails; and all of them do.
    void fail_call(std::size_t number) { calls_until_failure = number; }
    bool fails_always = false;

    [[nodiscard]] std::uint32_t word(std::size_t at) const {
        return buckets.at(static_cast<std::uint32_t>(at / abi::BUCKET_WORDS))
            .at(at % abi::BUCKET_WORDS);
    }

    std::map<std::uint32_t, abi::special_rule> rules;
    std::map<std::uint32_t, abi::macro> macros;
    std::map<std::uint32_t, abi::executable> executables;
    std::map<std::uint64_t, abi::file_entry> files;  // by inode
    std::map<std::size_t, std::vector<std::uint32_t>> buckets;
    std::size_t most_buckets = 0;
    std::size_t most_files = abi::MAX_EXECUTABLES - FIRST_FILE_EXECUTABLE_ID;
    std::vector<std::uint32_t> free_ids;
    std::vector<std::string> calls;
    std::optional<std::size_t> calls_until_failure;

private:
    Result<> call(const char* name) {
        calls.emplace_back(name);
        const bool is_this_one = calls_until_failure && (*calls_until_failure)-- == 0;
        if (is_this_one) calls_until_failure.reset();
        if (is_this_one || fails_always) return fail_with(ENOMEM, "{}", name);
        return {};
    }
};

}  // namespace bobbin::unwind_feed

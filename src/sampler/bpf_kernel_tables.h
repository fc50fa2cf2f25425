// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sampler/bpf_program.h"
#include "unwind_feed/kernel_tables.h"

namespace bobbin::sampler {

// The kernel side's maps. Buckets are mapped into this process, so a table is written by a copy and
// not by a system call for each MiB. One thread.
class BpfKernelTables final : public unwind_feed::KernelTables {
public:
    explicit BpfKernelTables(const BpfProgram& program);
    ~BpfKernelTables() override;

    Result<> write_words(std::uint32_t first_word, std::span<const std::uint32_t> words) override;
    Result<> write_special_rules(std::uint32_t first_index,
                                 std::span<const abi::special_rule> rules) override;
    Result<> write_macros(std::uint32_t first_index, std::span<const abi::macro> macros) override;
    Result<> set_executable(std::uint32_t executable_id,
                            const abi::executable& executable) override;
    Result<> set_file(const abi::file_key& key, const abi::file_entry& entry) override;
    [[nodiscard]] std::size_t id_count() const override { return id_count_; }
    Result<> forget_file(const abi::file_key& key) override;
    void begin_forgetting() override;
    void end_forgetting() override;
    Result<> add_free_id(std::uint32_t executable_id) override;
    Result<> add_bucket(std::uint32_t bucket) override;
    Result<> drop_bucket(std::uint32_t bucket) override;
    void void_remembered_rules() override;
    Result<> wait_for_walks() override;

    // The words of a bucket, for who walks in this process: a bucket of a table that is ready, and
    // while nobody may withdraw it (UnwindFeed::tables_in_use). Any thread. nullptr: there is none.
    [[nodiscard]] const std::uint32_t* words_of(std::uint32_t bucket) const;

private:
    class Bucket;
    Result<> put_bucket(std::uint32_t bucket);

    int buckets_fd_;
    int executables_fd_;
    int files_fd_;
    int special_rules_fd_;
    int macros_fd_;
    int free_ids_fd_;
    std::size_t id_count_;
    unsigned long long& rule_generation_;
    unsigned long long& file_changes_;
    std::vector<std::unique_ptr<Bucket>> buckets_;  // null where there is none
};

}  // namespace bobbin::sampler

// SPDX-License-Identifier: Apache-2.0
#include "bpf_host/walk_tables.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "base/unique_fd.h"
#include "executable/build_executable.h"

namespace bobbin::test {

WalkKernelTables::WalkKernelTables()
    : executables_(abi::MAX_EXECUTABLES),
      special_rules_(abi::MAX_SPECIAL_RULES),
      macros_(abi::MAX_MACROS),
      buckets_(abi::MAX_BUCKETS),
      bucket_words_(abi::MAX_BUCKETS) {}

user_walk::unwind_tables WalkKernelTables::tables() const {
    return {.executables = executables_.data(),
            .special_rules = special_rules_.data(),
            .macros = macros_.data(),
            .buckets = bucket_words_.data()};
}

Result<> WalkKernelTables::write_words(std::uint32_t first_word,
                                       std::span<const std::uint32_t> words) {
    for (std::size_t word = first_word; !words.empty();) {
        const std::size_t number = word / abi::BUCKET_WORDS;
        const std::size_t at = word % abi::BUCKET_WORDS;
        if (number >= buckets_.size()) return fail("pool is full");
        std::vector<std::uint32_t>& bucket = buckets_[number];
        bucket.resize(abi::BUCKET_WORDS);
        bucket_words_[number] = bucket.data();
        const auto here = words.first(std::min(words.size(), abi::BUCKET_WORDS - at));
        std::ranges::copy(here, bucket.begin() + static_cast<std::ptrdiff_t>(at));
        words = words.subspan(here.size());
        word += here.size();
    }
    return {};
}

Result<> WalkKernelTables::write_special_rules(std::uint32_t first_index,
                                               std::span<const abi::special_rule> rules) {
    if (first_index + rules.size() > special_rules_.size()) return fail("too many special rules");
    std::ranges::copy(rules, special_rules_.begin() + first_index);
    return {};
}

Result<> WalkKernelTables::write_macros(std::uint32_t first_index,
                                        std::span<const abi::macro> macros) {
    if (first_index + macros.size() > macros_.size()) return fail("too many macros");
    std::ranges::copy(macros, macros_.begin() + first_index);
    return {};
}

Result<> WalkKernelTables::set_executable(std::uint32_t executable_id,
                                          const abi::executable& executable) {
    if (executable_id >= executables_.size()) return fail("too many executables");
    executables_[executable_id] = executable;
    return {};
}

Result<> WalkKernelTables::set_file(const abi::file_key& /*key*/, const abi::file_entry& entry) {
    states_[entry.executable_id] = entry.state;
    return {};
}

void WalkTables::publish(executable::BuiltExecutable built) {
    const auto published = feed_.publish(std::move(built));
    EXPECT_TRUE(published.has_value()) << published.error().message();
}

std::uint32_t WalkTables::id_of(const TracedProcess& process, const TracedMapping& mapping) {
    const auto [entry, added] = ids_.try_emplace(
        mapping.file(), FIRST_FILE_EXECUTABLE_ID + static_cast<std::uint32_t>(ids_.size()));
    if (!added) return entry->second;
    executable::OpenedFile file;
    file.executable_id = entry->second;
    file.path = mapping.path;
    const std::string link = fmt::format("/proc/{}/map_files/{:x}-{:x}", process.pid(),
                                         mapping.start_vaddr, mapping.end_vaddr);
    file.fd = UniqueFd(::open(link.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.fd.get() < 0) file.fd = UniqueFd(::open(mapping.path.c_str(), O_RDONLY | O_CLOEXEC));
    publish(executable::build_executable(std::move(file), shared_));
    return entry->second;
}

void WalkTables::build_vdso(const TracedProcess& process, const TracedMapping& mapping) {
    if (std::exchange(has_vdso_, true)) return;
    std::vector<std::byte> image(mapping.end_vaddr - mapping.start_vaddr);
    ASSERT_TRUE(process.read(mapping.start_vaddr, image));
    publish(executable::build_vdso(image, shared_));
}

std::vector<user_walk::walk_mapping> WalkTables::mappings_of(
    const TracedProcess& process, const std::vector<TracedMapping>& mappings) {
    std::vector<user_walk::walk_mapping> result;
    for (const TracedMapping& mapping : mappings) {
        user_walk::walk_mapping one{.start_vaddr = mapping.start_vaddr,
                                    .end_vaddr = mapping.end_vaddr,
                                    .file_offset = mapping.file_offset,
                                    .executable_id = 0,
                                    .is_executable = mapping.executable ? 1U : 0U,
                                    .file_state = 0,
                                    .is_file_without = 0};
        if (mapping.executable && mapping.inode != 0) {
            one.executable_id = id_of(process, mapping);
            one.file_state = kernel_.state_of(one.executable_id);
        }
        if (mapping.path == "[vdso]") build_vdso(process, mapping);
        result.push_back(one);
    }
    return result;
}

std::vector<std::string> WalkTables::refused() const {
    std::vector<std::string> lines;
    for (const auto& executable : catalog_.all()) {
        if (!executable->refused.empty()) {
            lines.push_back(executable->path + ": " + executable->refused);
        }
    }
    return lines;
}

}  // namespace bobbin::test

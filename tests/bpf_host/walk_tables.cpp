// SPDX-License-Identifier: Apache-2.0
#include "bpf_host/walk_tables.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/unique_fd.h"
#include "executable/build_executable.h"

namespace bobbin::test {

Result<> WalkKernelTables::write_words(std::uint32_t first_word,
                                       std::span<const std::uint32_t> words) {
    if (walk_write_words(first_word, words.data(), words.size()) != 0) return fail("pool is full");
    return {};
}

Result<> WalkKernelTables::write_special_rules(std::uint32_t first_index,
                                               std::span<const abi::special_rule> rules) {
    if (walk_write_special_rules(first_index, rules.data(), rules.size()) != 0) {
        return fail("too many special rules");
    }
    return {};
}

Result<> WalkKernelTables::write_macros(std::uint32_t first_index,
                                        std::span<const abi::macro> macros) {
    if (walk_write_macros(first_index, macros.data(), macros.size()) != 0) {
        return fail("too many macros");
    }
    return {};
}

Result<> WalkKernelTables::set_executable(std::uint32_t executable_id,
                                          const abi::executable& executable) {
    if (walk_set_executable(executable_id, &executable) != 0) return fail("too many executables");
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

std::vector<walk_mapping> WalkTables::mappings_of(const TracedProcess& process,
                                                  const std::vector<TracedMapping>& mappings) {
    std::vector<walk_mapping> result;
    for (const TracedMapping& mapping : mappings) {
        walk_mapping one{.start_vaddr = mapping.start_vaddr,
                         .end_vaddr = mapping.end_vaddr,
                         .file_offset = mapping.file_offset,
                         .executable_id = 0,
                         .is_executable = mapping.executable ? 1U : 0U,
                         .file_state = 0,
                         .unused = 0};
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
    for (const executable::Executable* executable : catalog_.all()) {
        if (!executable->refused.empty()) {
            lines.push_back(executable->path + ": " + executable->refused);
        }
    }
    return lines;
}

}  // namespace bobbin::test

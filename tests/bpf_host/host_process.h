// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "aggregate/raw_sample.h"
#include "bobbin/bpf_abi.h"
#include "cfi/unwind_row.h"
#include "elf/elf_file.h"
#include "fake_kernel.h"
#include "profiler_on_host.h"
#include "unwind_table/build_table.h"

namespace bobbin {

// A process for the kernel side to look at, with a program at 0x400000 and a library far above it.
// File offset = file_vaddr - kProgramStart + kProgramOffset in both, so that the two spaces differ.
class HostProcess : public testing::Test {
protected:
    static constexpr std::uint64_t kProgramInode = 100;
    static constexpr std::uint64_t kLibraryInode = 200;
    static constexpr std::uint64_t kProgramStart = 0x400000;
    static constexpr std::uint64_t kLibraryStart = 0x7f0000000000;
    static constexpr std::uint64_t kTextBytes = 0x10000;
    static constexpr std::uint64_t kTextFileOffset = 0x2000;
    static constexpr std::uint64_t kGeneratedCode = 0x20000000;
    static constexpr std::uint64_t kData = 0x30000000;
    static constexpr std::uint64_t kVdso = 0x7ffd00000000;
    static constexpr std::uint64_t kStack = 0x7ffe00000000;
    static constexpr std::uint64_t kStackMappingStart = kStack - 0x10000;
    static constexpr std::uint64_t kStackMappingEnd = kStack + 0x20000;

    void SetUp() override {
        static const bool registered = [] {
            host_register_maps();
            return true;
        }();
        ASSERT_TRUE(registered);
        fake_kernel_reset();
        host_set_targets_only(0);
        host_leave_out(0, 0);
        for (__u32 id = FIRST_FILE_EXECUTABLE_ID; id < 64; ++id) push_free_id(id);
        const host_mapping mappings[] = {
            {kProgramStart, kProgramStart + kTextBytes, kTextFileOffset, kProgramInode, 1},
            {kGeneratedCode, kGeneratedCode + kTextBytes, 0, 0, 1},
            {kData, kData + kTextBytes, 0, 0, 0},
            {kLibraryStart, kLibraryStart + kTextBytes, kTextFileOffset, kLibraryInode, 1},
            {kVdso, kVdso + 0x2000, 0, 0, 1},
            {kStackMappingStart, kStackMappingEnd, 0, 0, 0},
        };
        host_set_process(mappings, std::size(mappings), kVdso);
        host_set_kernel_thread(0);
        host_set_rule_memory(1, 0);
    }

    struct Rule {
        std::uint64_t from_text_start;
        cfi::UnwindRule rule;
    };

    static cfi::UnwindRule cfa_rsp(std::int32_t offset) {
        return {.cfa = cfi::CfaKind::kRegisterOffset,
                .cfa_register = cfi::kRsp,
                .cfa_offset = offset,
                .ra_offset = -8};
    }
    static cfi::UnwindRule cfa_rbp(std::int32_t offset) {
        return {.cfa = cfi::CfaKind::kRegisterOffset,
                .cfa_register = cfi::kRbp,
                .rbp = cfi::RbpKind::kAtCfa,
                .cfa_offset = offset,
                .rbp_offset = -16,
                .ra_offset = -8};
    }
    static cfi::UnwindRule with_rbp_at(cfi::UnwindRule rule, std::int32_t cfa_offset) {
        rule.rbp = cfi::RbpKind::kAtCfa;
        rule.rbp_offset = cfa_offset;
        return rule;
    }
    static cfi::UnwindRule bottom() {
        auto rule = cfa_rsp(8);
        rule.return_address = cfi::ReturnAddressKind::kUndefined;
        rule.ra_offset = 0;
        return rule;
    }

    // Makes `inode`'s file ready with these rules, as unwind_feed does; the rest of its text has
    // none.
    void publish(std::uint64_t inode, const std::vector<Rule>& rules) {
        cfi::UnwindRows rows{.base_file_vaddr = 0, .rows = {}, .rules = {{}}};
        for (const Rule& rule : rules) {
            rows.rows.push_back(
                {.vaddr_from_base = static_cast<std::uint32_t>(rule.from_text_start),
                 .rule = static_cast<std::uint32_t>(rows.rules.size())});
            rows.rules.push_back(rule.rule);
        }
        rows.rows.push_back({.vaddr_from_base = kTextBytes, .rule = 0});
        const elf::LoadSegment text{.file_offset = kTextFileOffset,
                                    .file_size_bytes = kTextBytes,
                                    .file_vaddr = 0,
                                    .memory_size_bytes = kTextBytes,
                                    .executable = true};
        const auto table = unwind_table::build_table(rows, std::span(&text, 1), shared_rules_);
        ASSERT_TRUE(table.has_value()) << table.error().message();
        write(inode, *table);
    }

    // The same with a table written by hand.
    void publish_words(std::uint64_t inode, const abi::executable& geometry,
                       std::span<const std::uint32_t> words) {
        const __u32 id = id_of(inode);
        fake_write_pool(host_map_unwind_buckets(), geometry.first_word, words);
        bpf_map_update(host_map_executables(), &id, &geometry);
        set_file_state(inode, abi::FILE_READY);
    }
    static void set_special_rule(__u32 index, const abi::special_rule& rule) {
        bpf_map_update(host_map_special_rules(), &index, &rule);
    }
    static void set_macro(__u32 index, const abi::macro& macro) {
        bpf_map_update(host_map_macros(), &index, &macro);
    }

    std::uint32_t id_of(std::uint64_t inode) {
        const auto [entry, added] = ids_.try_emplace(inode, 0);
        if (added) entry->second = 40 + static_cast<std::uint32_t>(ids_.size());
        return entry->second;
    }

    void set_file_state(std::uint64_t inode, abi::file_state state) {
        abi::file_key key{};
        host_file_key(inode, &key);
        const abi::file_entry entry{.executable_id = id_of(inode), .state = state};
        bpf_map_update(host_map_files(), &key, &entry);
    }

    // Words of stack memory from `vaddr` upwards; the rest of the last page is zero.
    static void put_stack(std::uint64_t vaddr, std::vector<std::uint64_t> words) {
        const std::uint64_t end = (vaddr + words.size() * 8 + 4095) & ~std::uint64_t{4095};
        words.resize((end - vaddr) / 8);
        fake_user_memory(vaddr, std::as_bytes(std::span(words)));
    }

    // The one sample of the last tick.
    struct Sample {
        std::vector<std::byte> bytes;
        aggregate::RawSample parsed;
    };
    static Sample last_sample() {
        const auto& records = fake_ring_records(host_map_samples());
        Sample sample;
        if (records.empty()) return sample;
        sample.bytes = records.back();
        const auto parsed = aggregate::parse_sample(sample.bytes);
        EXPECT_TRUE(parsed.has_value());
        if (parsed) sample.parsed = *parsed;
        return sample;
    }

    Sample tick(host_registers registers, bool in_kernel_mode = false) {
        registers.cs = 0x33;
        host_tick(&registers, in_kernel_mode);
        return last_sample();
    }

    abi::frame_word in_program(std::uint64_t from_text_start) {
        return in_file(kProgramInode, from_text_start);
    }
    abi::frame_word in_library(std::uint64_t from_text_start) {
        return in_file(kLibraryInode, from_text_start);
    }
    abi::frame_word in_file(std::uint64_t inode, std::uint64_t from_text_start) {
        return std::uint64_t{id_of(inode)} << FRAME_EXECUTABLE_SHIFT |
               (kTextFileOffset + from_text_start);
    }

    static std::vector<abi::frame_word> frames(std::span<const abi::frame_word> span) {
        return {span.begin(), span.end()};
    }

    static abi::outcome_counters counters() {
        const __u32 zero = 0;
        abi::outcome_counters result{};
        std::memcpy(&result, bpf_map_lookup(host_map_outcome_counts(), &zero), sizeof(result));
        return result;
    }

private:
    static void push_free_id(__u32 id);
    static void bpf_map_update(void* map, const void* key, const void* value);
    static void* bpf_map_lookup(void* map, const void* key);

    void write(std::uint64_t inode, const unwind_table::UnwindTable& table) {
        const __u32 id = id_of(inode);
        fake_write_pool(host_map_unwind_buckets(), next_word_, table.words);
        const abi::executable executable{.base_file_offset = table.base_file_offset,
                                         .first_word = next_word_,
                                         .granule_count = table.granule_count,
                                         .granule_shift = table.granule_shift,
                                         .is_ready = 1};
        next_word_ += static_cast<std::uint32_t>(table.words.size());
        bpf_map_update(host_map_executables(), &id, &executable);
        const auto rules = shared_rules_.specials.since(0);
        for (__u32 i = 0; i < rules.size(); ++i) {
            set_special_rule(i, rules[i]);
        }
        const auto macros = shared_rules_.macros.since(0);
        for (__u32 i = 0; i < macros.size(); ++i) set_macro(i, macros[i]);
        set_file_state(inode, abi::FILE_READY);
    }

    unwind_table::SharedRules shared_rules_;
    std::map<std::uint64_t, std::uint32_t> ids_;
    std::uint32_t next_word_ = 0;
};

}  // namespace bobbin

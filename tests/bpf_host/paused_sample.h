// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "host_process.h"

namespace bobbin {

// A record of the ring taken apart by the words of bobbin/bpf_abi.h.
struct PausedSample {
    abi::sample_header header{};
    std::vector<abi::frame_word> frames;
    abi::paused_walk walk{};
    std::vector<abi::paused_mapping> mappings;
    std::vector<std::uint64_t> stack;
    std::size_t record_bytes = 0;
};

class RecordCursor {
public:
    explicit RecordCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}
    void take(void* to, std::size_t size) {
        ASSERT_LE(size, bytes_.size());
        if (size > 0) std::memcpy(to, bytes_.data(), size);
        bytes_ = bytes_.subspan(size);
    }
    [[nodiscard]] std::size_t left() const { return bytes_.size(); }

private:
    std::span<const std::byte> bytes_;
};

inline PausedSample take_apart(std::span<const std::byte> record) {
    PausedSample sample;
    sample.record_bytes = record.size();
    RecordCursor cursor(record);
    cursor.take(&sample.header, sizeof(sample.header));
    sample.frames.resize(sample.header.kernel_frame_count +
                         std::size_t{sample.header.user_frame_count});
    cursor.take(sample.frames.data(), sample.frames.size() * sizeof(abi::frame_word));
    if ((sample.header.flags & abi::SAMPLE_HAS_PAUSED_WALK) == 0) {
        EXPECT_EQ(cursor.left(), 0U);
        return sample;
    }
    cursor.take(&sample.walk, sizeof(sample.walk));
    sample.mappings.resize(sample.walk.mapping_count);
    cursor.take(sample.mappings.data(), sample.mappings.size() * sizeof(abi::paused_mapping));
    EXPECT_EQ(sample.walk.stack_bytes % 8, 0U);
    sample.stack.resize(sample.walk.stack_bytes / 8);
    cursor.take(sample.stack.data(), sample.walk.stack_bytes);
    EXPECT_EQ(cursor.left(), 0U) << "the record is of the exact size";
    return sample;
}

// A process whose program has a table and whose library has none.
class PausedProcess : public HostProcess {
protected:
    static constexpr std::uint64_t kEntryRsp = kStack + 0x300;
    static constexpr std::uint64_t kPage = 4096;

    void SetUp() override {
        HostProcess::SetUp();
        host_set_start_stack(kEntryRsp);
        publish(kProgramInode, {{0x100, cfa_rsp(16)}});
        numbered_stack(kStack, kStackMappingEnd);
    }

    // Readable memory in which every word holds its own address.
    static void numbered_stack(std::uint64_t from_vaddr, std::uint64_t to_vaddr) {
        std::vector<std::uint64_t> words;
        for (std::uint64_t at = from_vaddr; at < to_vaddr; at += 8) words.push_back(at);
        fake_user_memory(from_vaddr, std::as_bytes(std::span(words)));
    }
    static std::vector<std::uint64_t> addresses(std::uint64_t from_vaddr, std::uint64_t to_vaddr) {
        std::vector<std::uint64_t> words;
        for (std::uint64_t at = from_vaddr; at < to_vaddr; at += 8) words.push_back(at);
        return words;
    }

    PausedSample tick_in_library(std::uint64_t rsp = kStack, bool in_kernel_mode = false) {
        tick({kLibraryStart + 0x20, rsp, 0x77, 0}, in_kernel_mode);
        const auto& records = fake_ring_records(host_map_samples());
        return records.empty() ? PausedSample{} : take_apart(records.back());
    }

    // `count` executable mappings of a file each, 64 KiB apart, the stack above them all.
    static std::vector<host_mapping> many_files(std::uint32_t count, std::uint32_t data_between) {
        std::vector<host_mapping> mappings;
        std::uint64_t at = 0x10000000;
        for (std::uint32_t i = 0; i < count; ++i) {
            for (std::uint32_t k = 0; k < data_between; ++k, at += 0x10000) {
                mappings.push_back({at, at + kPage, 0, 0, 0});
            }
            mappings.push_back({at, at + kPage, kTextFileOffset, 1000 + i, 1});
            at += 0x10000;
        }
        mappings.push_back({kStackMappingStart, kStackMappingEnd, 0, 0, 0});
        return mappings;
    }
    PausedSample tick_at(std::uint64_t rip) {
        tick({rip, kStack, 0, 0});
        return take_apart(fake_ring_records(host_map_samples()).back());
    }
};

}  // namespace bobbin

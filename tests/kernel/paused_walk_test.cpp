// SPDX-License-Identifier: Apache-2.0
// What a sample carries whose files nobody has read: without an agent that is every one. Compared
// with /proc/self/maps, /proc/self/stat and the memory itself. Runs in the guests of
// tests/kernel_matrix too.
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "bobbin/bpf_abi.h"
#include "sampler/bpf_program.h"

namespace bobbin::sampler {
namespace {

constexpr std::size_t kWantedSamples = 20;
constexpr std::size_t kMostRefused = 10'000;
constexpr std::uint64_t kMagic = 0x626f6262696e0001;

struct MapsRow {
    std::uint64_t start_vaddr = 0;
    std::uint64_t end_vaddr = 0;
    std::uint64_t file_offset = 0;
    std::uint64_t inode = 0;
    std::string permissions;
    std::string name;
};

std::vector<MapsRow> own_mappings() {
    std::vector<MapsRow> rows;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        MapsRow row;
        char dash = 0;
        std::string device;
        std::istringstream words(line);
        words >> std::hex >> row.start_vaddr >> dash >> row.end_vaddr >> row.permissions >>
            row.file_offset >> device >> std::dec >> row.inode >> row.name;
        rows.push_back(row);
    }
    return rows;
}

// The page at the end of the address space belongs to no process.
std::vector<MapsRow> own_executable_mappings() {
    auto rows = own_mappings();
    std::erase_if(rows, [](const MapsRow& row) {
        return row.permissions.find('x') == std::string::npos || row.name == "[vsyscall]";
    });
    return rows;
}

const MapsRow* row_of(const std::vector<MapsRow>& rows, std::uint64_t vaddr) {
    const auto found = std::ranges::find_if(rows, [vaddr](const MapsRow& row) {
        return vaddr >= row.start_vaddr && vaddr < row.end_vaddr;
    });
    return found == rows.end() ? nullptr : &*found;
}

// Field 28 of /proc/self/stat: rsp at the program's first instruction.
std::uint64_t own_start_stack() {
    std::ifstream stat("/proc/self/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    std::istringstream behind_comm(text.substr(text.rfind(')') + 2));
    std::string word;
    for (int field = 3; field <= 28; ++field) behind_comm >> word;
    return std::stoull(word);
}

struct PausedSample {
    abi::sample_header header{};
    abi::paused_walk walk{};
    std::vector<abi::paused_mapping> mappings;
    std::vector<std::byte> stack;

    [[nodiscard]] bool has_block(std::size_t block) const {
        return (walk.present[block / 64] >> (block % 64) & 1) != 0;
    }
    // The copy of the word at `vaddr`: as many blocks lie before it as have a bit.
    [[nodiscard]] std::optional<std::uint64_t> word_at(std::uint64_t vaddr) const {
        const std::uint64_t from_start = vaddr - walk.stack_vaddr;
        const std::size_t block = from_start / abi::STACK_BLOCK_BYTES;
        if (from_start >= walk.stack_span_bytes || !has_block(block)) return std::nullopt;
        std::size_t at = from_start % abi::STACK_BLOCK_BYTES;
        for (std::size_t i = 0; i < block; ++i) at += has_block(i) ? abi::STACK_BLOCK_BYTES : 0;
        std::uint64_t word = 0;
        if (at + sizeof(word) > stack.size()) return std::nullopt;
        std::memcpy(&word, stack.data() + at, sizeof(word));
        return word;
    }
    [[nodiscard]] std::size_t absent_blocks() const {
        std::size_t absent = 0;
        const std::size_t blocks =
            (walk.stack_span_bytes + abi::STACK_BLOCK_BYTES - 1) / abi::STACK_BLOCK_BYTES;
        for (std::size_t i = 0; i < blocks; ++i) absent += has_block(i) ? 0 : 1;
        return absent;
    }
};

// Takes the record apart; fails where its parts do not add up to its size.
PausedSample take_apart(const std::byte* record, std::size_t size) {
    PausedSample sample;
    const std::byte* at = record;
    const auto take = [&](void* to, std::size_t bytes) {
        const auto left = size - static_cast<std::size_t>(at - record);
        ASSERT_LE(bytes, left);
        if (bytes > 0) std::memcpy(to, at, bytes);
        at += bytes;
    };
    take(&sample.header, sizeof(sample.header));
    std::vector<abi::frame_word> frames(std::size_t{sample.header.kernel_frame_count} +
                                        sample.header.user_frame_count);
    take(frames.data(), frames.size() * sizeof(abi::frame_word));
    if ((sample.header.flags & abi::SAMPLE_HAS_PAUSED_WALK) == 0) return sample;
    take(&sample.walk, sizeof(sample.walk));
    sample.mappings.resize(std::min<std::size_t>(sample.walk.mapping_count, 1024));
    take(sample.mappings.data(), sample.mappings.size() * sizeof(abi::paused_mapping));
    sample.stack.resize(std::min<std::size_t>(sample.walk.stack_bytes, 1 << 20));
    take(sample.stack.data(), sample.stack.size());
    EXPECT_EQ(static_cast<std::size_t>(at - record), size);
    return sample;
}

// bpf_find_vma finds its lock not yet given back now and then, most of all where ticks are slow.
bool was_refused_by_find_vma(const PausedSample& sample) {
    return sample.header.walk_end == abi::WALK_END_MAPPING_UNREADABLE;
}

// Ticks of the thread that makes it, until it is gone.
class OwnTicks {
public:
    explicit OwnTicks(const BpfProgram& program)
        : may_be_refused_(program.tick_program() == TickProgram::kFindVma) {
        perf_event_attr attributes{};
        attributes.size = sizeof(attributes);
        attributes.type = PERF_TYPE_SOFTWARE;
        attributes.config = PERF_COUNT_SW_CPU_CLOCK;
        attributes.sample_period = 10'000'000;  // ns
        event_ = UniqueFd(static_cast<int>(
            ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
        ring_.reset(ring_buffer__new(program.samples_fd(), &OwnTicks::add, this, nullptr));
        if (!event_.is_open() || !ring_) {
            ADD_FAILURE() << std::strerror(errno);
        } else if (::ioctl(event_.get(), PERF_EVENT_IOC_SET_BPF, program.tick_program_fd()) != 0) {
            ADD_FAILURE() << "attach: " << std::strerror(errno);
        }
    }
    // Works until enough ticks have hit.
    const std::vector<PausedSample>& take_samples() {
        while (samples_.size() < kWantedSamples && refused_ < kMostRefused &&
               !testing::Test::HasFailure()) {
            // Short beside a tick's period even where a machine is emulated: when the ring is
            // three quarters full, which 48 samples can do, no stacks are copied.
            for (int i = 0; i < 10'000; ++i) asm volatile("" ::: "memory");
            if (ring_buffer__consume(ring_.get()) < 0) ADD_FAILURE() << "ring buffer";
        }
        EXPECT_GE(samples_.size(), kWantedSamples) << refused_ << " refused by bpf_find_vma";
        return samples_;
    }

private:
    static int add(void* own, void* data, std::size_t size) {
        auto& ticks = *static_cast<OwnTicks*>(own);
        auto sample = take_apart(static_cast<const std::byte*>(data), size);
        if (ticks.may_be_refused_ && was_refused_by_find_vma(sample)) {
            ++ticks.refused_;
        } else {
            EXPECT_EQ(sample.header.walk_end, abi::WALK_END_FILE_NOT_READY);
            EXPECT_NE(sample.header.flags & abi::SAMPLE_HAS_PAUSED_WALK, 0);
            ticks.samples_.push_back(std::move(sample));
        }
        return 0;
    }
    struct FreeRing {
        void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
    };
    UniqueFd event_;
    std::unique_ptr<ring_buffer, FreeRing> ring_;
    std::vector<PausedSample> samples_;
    bool may_be_refused_;
    std::size_t refused_ = 0;
};

class PausedWalk : public testing::TestWithParam<TickProgram> {
protected:
    void SetUp() override {
        auto program = BpfProgram::load({.tick_program = GetParam()});
        ASSERT_TRUE(program.has_value()) << program.error().message();
        program_.emplace(std::move(*program));
    }
    static bool reads_the_tree() { return GetParam() != TickProgram::kFindVma; }
    std::optional<BpfProgram> program_;
};

TEST_P(PausedWalk, ListsTheExecutableMappingsThatProcMapsHas) {
    OwnTicks ticks(*program_);
    const auto& samples = ticks.take_samples();
    const auto rows = own_executable_mappings();
    ASSERT_LT(rows.size(), std::size_t{abi::MAX_PAUSED_MAPPINGS});
    for (const PausedSample& sample : samples) {
        EXPECT_EQ((sample.walk.flags & abi::PAUSED_MAPPINGS_CUT) == 0, reads_the_tree());
        ASSERT_EQ(sample.mappings.size(), reads_the_tree() ? rows.size() : 1);
        for (const auto& mapping : sample.mappings) {
            const MapsRow* row = row_of(rows, mapping.vm_start_vaddr);
            ASSERT_NE(row, nullptr);
            EXPECT_EQ(mapping.vm_start_vaddr, row->start_vaddr);
            EXPECT_EQ(mapping.vm_end_vaddr, row->end_vaddr);
            EXPECT_EQ(mapping.file_offset, row->file_offset);
            EXPECT_EQ(mapping.executable_id >= unsigned{FIRST_FILE_EXECUTABLE_ID}, row->inode != 0)
                << row->name;
            EXPECT_EQ(mapping.executable_id == EXECUTABLE_ID_VDSO, row->name == "[vdso]");
            EXPECT_EQ(mapping.flags, 0U);
        }
        EXPECT_TRUE(
            std::ranges::is_sorted(sample.mappings, {}, &abi::paused_mapping::vm_start_vaddr));
        const auto awaited = std::ranges::find(sample.mappings, sample.walk.awaited_executable_id,
                                               &abi::paused_mapping::executable_id);
        ASSERT_NE(awaited, sample.mappings.end());
        EXPECT_GE(sample.walk.rip, awaited->vm_start_vaddr);
        EXPECT_LT(sample.walk.rip, awaited->vm_end_vaddr);
    }
}

TEST_P(PausedWalk, CarriesTheMainThreadsStackUpToItsArguments) {
    volatile std::uint64_t marker = kMagic;
    OwnTicks ticks(*program_);
    const auto start_stack = own_start_stack();
    for (const PausedSample& sample : ticks.take_samples()) {
        EXPECT_EQ(sample.walk.stack_vaddr + sample.walk.stack_span_bytes, start_stack + 256);
        EXPECT_EQ(sample.word_at(reinterpret_cast<std::uint64_t>(&marker)), kMagic);
        // argc; the words above are the addresses of the arguments, which nobody changes.
        for (std::uint64_t vaddr = start_stack; vaddr < start_stack + 256; vaddr += 8) {
            EXPECT_EQ(sample.word_at(vaddr), *reinterpret_cast<const std::uint64_t*>(vaddr));
        }
    }
}

// Below the frame with the marker lie 128 KiB that were never touched.
[[gnu::noinline]] void take_below_untouched(OwnTicks& ticks) {
    char untouched[128 << 10];
    asm volatile("" ::"r"(untouched) : "memory");
    ticks.take_samples();
    asm volatile("" ::"r"(untouched) : "memory");
}

TEST_P(PausedWalk, CarriesAThreadsStackAroundPagesThatNobodyTouched) {
    std::vector<PausedSample> samples;
    std::uint64_t marker_vaddr = 0;
    std::uint64_t end_vaddr = 0;
    const auto work = [&] {
        volatile std::uint64_t marker = kMagic;
        marker_vaddr = reinterpret_cast<std::uint64_t>(&marker);
        const auto rows = own_mappings();
        const MapsRow* const row = row_of(rows, marker_vaddr);
        end_vaddr = row == nullptr ? 0 : row->end_vaddr;
        OwnTicks ticks(*program_);
        take_below_untouched(ticks);
        samples = ticks.take_samples();
    };
    std::thread(work).join();
    std::size_t below_the_hole = 0;
    for (const PausedSample& sample : samples) {
        if (sample.walk.rsp + (128 << 10) > marker_vaddr) continue;  // before or after the work
        ++below_the_hole;
        EXPECT_EQ(sample.word_at(marker_vaddr), kMagic);
        if (reads_the_tree()) {
            EXPECT_EQ(sample.walk.stack_vaddr + sample.walk.stack_span_bytes, end_vaddr);
        }
        // All but the array's first and last page.
        EXPECT_GE(sample.absent_blocks(), 4U * (32 - 2));
    }
    EXPECT_GE(below_the_hole, kWantedSamples / 2);
}

INSTANTIATE_TEST_SUITE_P(All, PausedWalk,
                         testing::Values(TickProgram::kLoop, TickProgram::kTailCalls,
                                         TickProgram::kFindVma),
                         [](const auto& program) { return std::string(name_of(program.param)); });

}  // namespace
}  // namespace bobbin::sampler

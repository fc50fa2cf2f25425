// SPDX-License-Identifier: Apache-2.0
// A walk that is paused at each file of its stack and goes on from a record, without the process,
// against the same walk in one go over the live process: real programs stopped at thousands of
// places.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "bpf_host/traced_process.h"
#include "bpf_host/walk_tables.h"
#include "differential/programs.h"
#include "differential/visit_stops.h"
#include "support/paused_record.h"
#include "user_walk/walk_on.h"

namespace bobbin::test {
namespace {

constexpr std::size_t kStopsOfAProgram = 1500;
constexpr std::size_t kLeastStops = 500;
constexpr std::uint64_t kBlock = abi::STACK_BLOCK_BYTES;
constexpr std::uint64_t kPage = 4096;

// Of the copy, as bpf/copy_stack.bpf.h makes it.
constexpr std::uint64_t kBytesAboveProcessEntry = 256;
constexpr std::uint64_t kRedZoneBytes = 128;

struct Walked {
    std::vector<abi::frame_word> frames;
    std::set<std::uint64_t> blocks;  // of the stack, that hold what the walk reads
    std::uint32_t end = 0;
};

// Which pages of a process are in memory: Documentation/admin-guide/mm/pagemap.rst.
class Pagemap {
public:
    explicit Pagemap(pid_t pid)
        : fd_(::open(fmt::format("/proc/{}/pagemap", pid).c_str(), O_RDONLY | O_CLOEXEC)) {
        EXPECT_TRUE(fd_.is_open());
    }
    [[nodiscard]] bool is_present(std::uint64_t vaddr) const {
        constexpr std::uint64_t kPresentOrSwapped = 3ULL << 62;
        std::uint64_t entry = 0;
        const auto at = static_cast<off_t>(vaddr / kPage * sizeof(entry));
        EXPECT_EQ(::pread(fd_.get(), &entry, sizeof(entry), at),
                  static_cast<ssize_t>(sizeof(entry)));
        return (entry & kPresentOrSwapped) != 0;
    }

private:
    UniqueFd fd_;
};

// The tables as they are made while a program runs, of which all are there.
class LiveTables final : public user_walk::TableSource {
public:
    explicit LiveTables(const WalkTables& tables) : tables_(tables) {}
    user_walk::unwind_tables tables() override { return tables_.tables(); }
    bool add_bucket(std::uint32_t /*bucket*/) override { return false; }

private:
    const WalkTables& tables_;
};

__u32 read_elsewhere(const void* thread, void* to, __u32 size, __u64 from_vaddr) {
    const auto& stopped = *static_cast<const StoppedThread*>(thread);
    return stopped.read(from_vaddr, std::span(static_cast<std::byte*>(to), size)) ? size : 0;
}

class ResumeCheck : public StopVisitor {
public:
    ResumeCheck(const TracedProcess& process, WalkTables& tables)
        : process_(process), tables_(tables), source_(tables), pagemap_(process.pid()) {}

    void on_mappings(const std::vector<TracedMapping>& mappings) override {
        mappings_ = mappings;
        walk_mappings_ = tables_.mappings_of(process_, mappings);
        start_stack_vaddr_ = read_start_stack(process_.pid());
        const auto vdso = std::ranges::find(mappings, "[vdso]", &TracedMapping::path);
        vdso_vaddr_ = vdso == mappings.end() ? 0 : vdso->start_vaddr;
    }

    void on_stop(const StoppedThread& thread) override {
        const Walked direct = walk_directly(thread);
        // A leaf in no file is no walk that waits.
        if (direct.frames.empty() || (direct.frames[0] & FRAME_IS_ANONYMOUS) != 0) return;
        const PausedRecord record = record_of(thread, direct);
        const std::vector<std::byte> bytes = record.bytes();
        auto paused = user_walk::parse_paused_walk(bytes);
        ASSERT_TRUE(paused) << "of our own making";
        const Walked resumed = walk_in_parts(*paused);
        ++stops;
        judge(thread, direct, resumed);
    }

    std::uint64_t stops = 0;
    std::uint64_t equal = 0;
    std::uint64_t pauses = 0;
    std::uint64_t beyond_copy = 0;  // ended early, and says so: the words were not copied
    std::uint64_t with_absent_blocks = 0;
    std::vector<std::string> differences;

private:
    static std::uint32_t executable_of(abi::frame_word frame) {
        return static_cast<std::uint32_t>(frame >> FRAME_EXECUTABLE_SHIFT & FRAME_EXECUTABLE_MASK);
    }

    static void note_blocks(Walked& walked, std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t at = from / kBlock; at <= (to - 1) / kBlock; ++at) {
            walked.blocks.insert(at);
        }
    }

    Walked walk_directly(const StoppedThread& thread) {
        static std::array<user_walk::walked_frame, abi::MAX_USER_FRAMES> frames;
        const user_walk::walk_process view{.mappings = walk_mappings_.data(),
                                           .mapping_count = walk_mappings_.size(),
                                           .vdso_vaddr = vdso_vaddr_,
                                           .start_stack_vaddr = start_stack_vaddr_,
                                           .stack_vaddr = thread.stack_vaddr(),
                                           .stack_bytes = thread.stack().size(),
                                           .stack = thread.stack().data(),
                                           .read_elsewhere = read_elsewhere,
                                           .elsewhere = &thread};
        Walked walked;
        const user_walk::unwind_tables tables = tables_.tables();
        user_walk::use_unwind_tables(&tables);
        const auto count =
            user_walk::walk_frames(&view, thread.registers().data(), frames.data(), &walked.end);
        for (const auto& frame : std::span(frames).first(count)) {
            walked.frames.push_back(frame.word);
            // A rule's words lie right below the caller's rsp, below rbp where the stack is
            // realigned, and above rsp where a signal's registers are: 40 + 136 bytes.
            note_blocks(walked, frame.rsp - 64, frame.rsp + 192);
            note_blocks(walked, frame.rbp - 64, frame.rbp + 16);
        }
        return walked;
    }

    // No file is ready at first, then each that is waited for.
    Walked walk_in_parts(user_walk::PausedWalk& paused) {
        std::set<std::uint32_t> ready{paused.position.awaited_executable_id};
        const auto state_of = [&](std::uint32_t id) {
            if (id == EXECUTABLE_ID_VDSO) return abi::FILE_READY;
            if (!ready.contains(id)) return abi::FILE_ANNOUNCED;
            return static_cast<abi::file_state>(tables_.state_of(id));
        };
        Walked walked;
        while (true) {
            const auto room =
                static_cast<std::uint32_t>(abi::MAX_USER_FRAMES - walked.frames.size());
            const auto part = user_walk::walk_on(source_, paused, room, state_of);
            walked.frames.insert(walked.frames.end(), part.frames.begin(), part.frames.end());
            walked.end = part.end;
            if (part.end != abi::WALK_END_FILE_NOT_READY || part.frames.empty()) return walked;
            if (!ready.insert(paused.position.awaited_executable_id).second) return walked;
            walked.frames.pop_back();
            ++pauses;
        }
    }

    // At every other stop as if all of the stack that the walk does not need had never been
    // touched.
    PausedRecord record_of(const StoppedThread& thread, const Walked& direct) {
        PausedRecord record;
        user_regs_struct registers{};
        ::ptrace(PTRACE_GETREGS, thread.thread(), nullptr, &registers);
        // Begins as struct pt_regs does.
        static_assert(sizeof(record.walk.registers) <= sizeof(registers));
        std::memcpy(record.walk.registers, &registers, sizeof(record.walk.registers));
        record.walk.rip = registers.rip;
        record.walk.rsp = registers.rsp;
        record.walk.rbp = registers.rbp;
        record.walk.vdso_vaddr = vdso_vaddr_;
        record.walk.start_stack_vaddr = start_stack_vaddr_;
        record.walk.awaited_executable_id = executable_of(direct.frames[0]);
        record.walk.flags = abi::PAUSED_RBX_KNOWN;
        for (const user_walk::walk_mapping& mapping : walk_mappings_) {
            if (mapping.is_executable == 0) continue;
            const bool is_vdso = mapping.start_vaddr == vdso_vaddr_;
            record.mappings.push_back(
                {.vm_start_vaddr = mapping.start_vaddr,
                 .vm_end_vaddr = mapping.end_vaddr,
                 .file_offset = is_vdso ? 0 : mapping.file_offset,
                 .executable_id = is_vdso ? EXECUTABLE_ID_VDSO : mapping.executable_id,
                 .flags = 0});
        }
        copy_stack(record, registers.rsp, stops % 2 == 0 ? nullptr : &direct.blocks);
        return record;
    }

    void copy_stack(PausedRecord& record, std::uint64_t rsp,
                    const std::set<std::uint64_t>* touched) {
        const TracedMapping* mapping = find_mapping(mappings_, rsp);
        if (mapping == nullptr) return;
        std::uint64_t end = mapping->end_vaddr;
        if (start_stack_vaddr_ >= rsp)
            end = std::min(end, start_stack_vaddr_ + kBytesAboveProcessEntry);
        record.walk.stack_vaddr =
            std::max((rsp - kRedZoneBytes) / kBlock * kBlock, mapping->start_vaddr);
        record.walk.stack_span_bytes = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(end - record.walk.stack_vaddr, abi::MAX_STACK_SPAN_BYTES));
        end = record.walk.stack_vaddr + record.walk.stack_span_bytes;
        bool all_present = true;
        std::size_t block = 0;
        for (std::uint64_t at = record.walk.stack_vaddr; at < end; at += kBlock, ++block) {
            const std::uint64_t length = std::min(kBlock, end - at);
            if (record.stack.size() + length > abi::MAX_STACK_COPY_BYTES) break;
            if (!pagemap_.is_present(at) || (touched && !touched->contains(at / kBlock))) {
                all_present = false;
                continue;
            }
            std::vector<std::byte> bytes(length);
            EXPECT_TRUE(process_.read(at, bytes));
            append(record.stack, bytes);
            record.walk.present[block / 64] |= std::uint64_t{1} << block % 64;
        }
        if (!all_present) ++with_absent_blocks;
    }

    void judge(const StoppedThread& thread, const Walked& direct, const Walked& resumed) {
        if (direct.frames == resumed.frames && direct.end == resumed.end) {
            ++equal;
            return;
        }
        const auto [theirs, ours] = std::ranges::mismatch(direct.frames, resumed.frames);
        const auto same = static_cast<std::size_t>(ours - resumed.frames.begin());
        if (ours == resumed.frames.end() && resumed.end == abi::WALK_END_STACK_UNREADABLE) {
            ++beyond_copy;
            return;
        }
        if (differences.size() > 5) return;
        differences.push_back(
            fmt::format("at {:#x}: {} frames and end {}, resumed {} and end {},"
                        " {} are the same",
                        thread.pc_vaddr(), direct.frames.size(), direct.end, resumed.frames.size(),
                        resumed.end, same));
    }

    const TracedProcess& process_;
    WalkTables& tables_;
    LiveTables source_;
    Pagemap pagemap_;
    std::vector<TracedMapping> mappings_;
    std::vector<user_walk::walk_mapping> walk_mappings_;
    std::uint64_t vdso_vaddr_ = 0;
    std::uint64_t start_stack_vaddr_ = 0;
};

class ResumedWalk : public testing::TestWithParam<TestedProgram> {};

TEST_P(ResumedWalk, FindsWhatTheWalkInOneGoFinds) {
    TracedProcess process(GetParam().arguments);
    WalkTables tables;
    ResumeCheck check(process, tables);
    visit_stops(process, kStopsOfAProgram, check);
    fmt::print(
        "{:12} {:5} stops {:5} equal {:6} pauses {:4} beyond the copy {:5} with absent blocks\n",
        GetParam().name, check.stops, check.equal, check.pauses, check.beyond_copy,
        check.with_absent_blocks);
    for (const std::string& difference : check.differences) ADD_FAILURE() << difference;
    EXPECT_GE(check.stops, kLeastStops);
    EXPECT_EQ(check.equal + check.beyond_copy, check.stops);
    EXPECT_LE(check.beyond_copy, check.stops / 50);
    // How many depends on where the kernel put the stack: a small one may lie in one block.
    EXPECT_GE(check.with_absent_blocks, 1U);
}

INSTANTIATE_TEST_SUITE_P(Programs, ResumedWalk, testing::ValuesIn(programs_here()),
                         [](const auto& one) {
                             std::string name = one.param.name;
                             for (char& c : name) c = c == '-' ? '_' : c;
                             return name;
                         });

}  // namespace
}  // namespace bobbin::test

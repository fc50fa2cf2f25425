// SPDX-License-Identifier: Apache-2.0
#include "differential/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "differential/libunwind_oracle.h"

namespace bobbin::test {
namespace {

constexpr std::array kEndNames = {
#define X(enumerator, name, text) name,
    BOBBIN_WALK_ENDS(X)
#undef X
};

// Go's linker marks functions of the old calling convention, which are those in assembly but a few.
// Those of the runtime change stacks, align rsp or are entered by the kernel, of which .debug_frame
// says nothing or that they are outermost; the walker has better rows of them from pclntab.
constexpr std::string_view kOldConvention = ".abi0";
// The few that do such things, too: TEXT with ABIInternal or <> in runtime/*_amd64.s.
constexpr std::array<std::string_view, 5> kNewConvention = {
    "gogo", "runtime.mcall", "runtime.switchToCrashStack0", "runtime.vgetrandom1", "time.now"};

bool is_go_assembly(std::string_view symbol) {
    return symbol.ends_with(kOldConvention) || std::ranges::count(kNewConvention, symbol) != 0;
}

constexpr std::size_t kMostExamples = 12;
constexpr unsigned kPlaceShift = 8;
// _init and _fini, of which no compiler makes CFI: sub $8,%rsp behind its first byte, which may be
// a breakpoint. They have 9 to 40 bytes.
constexpr std::array<std::uint8_t, 3> kBeginOfStartCode{0x83, 0xec, 0x08};
constexpr std::uint64_t kMostStartCodeBytes = 64;

__u32 read_elsewhere(const void* thread, void* to, __u32 size, __u64 from_vaddr) {
    const auto& stopped = *static_cast<const StoppedThread*>(thread);
    return stopped.read(from_vaddr, std::span(static_cast<std::byte*>(to), size)) ? size : 0;
}

// An address inside the instruction that was running or that made the call.
std::uint64_t call_vaddr(const OracleFrame& frame) {
    return frame.pc_vaddr - (frame.is_activation ? 0 : 1);
}

// What an oracle makes of our stack.
enum class Verdict { kEqual, kWeEndedFirst, kOracleGaveUp, kDiffers };

struct Judgement {
    Verdict verdict = Verdict::kEqual;
    std::size_t equal_frames = 0;
};

Judgement compare(const std::vector<OracleFrame>& ours, const OracleStack& oracle) {
    const auto [our_end, its_end] = std::ranges::mismatch(ours, oracle.frames);
    const auto equal_frames = static_cast<std::size_t>(our_end - ours.begin());
    if (our_end != ours.end() && its_end != oracle.frames.end()) {
        return {.verdict = Verdict::kDiffers, .equal_frames = equal_frames};
    }
    if (our_end != ours.end()) {
        return {.verdict = oracle.gave_up.empty() ? Verdict::kDiffers : Verdict::kOracleGaveUp,
                .equal_frames = equal_frames};
    }
    return {.verdict = its_end == oracle.frames.end() ? Verdict::kEqual : Verdict::kWeEndedFirst,
            .equal_frames = equal_frames};
}

}  // namespace

struct AgreementCheck::OurStack {
    std::vector<OracleFrame> frames;  // up to the first that CFI does not give
    bool reached_no_cfi = false;
    std::uint32_t end = 0;

    // How many of `frames` were left by CFI. The last one was if only a rule can end a walk so.
    [[nodiscard]] std::size_t frames_with_rule() const {
        const bool ended_by_rule = !reached_no_cfi && (end == abi::WALK_END_REGISTER_UNKNOWN ||
                                                       end == abi::WALK_END_UNSUPPORTED_RULE ||
                                                       end == abi::WALK_END_OTHER_STACK);
        return frames.size() - (ended_by_rule || frames.empty() ? 0 : 1);
    }
};

void AgreementCheck::on_mappings(const std::vector<TracedMapping>& mappings) {
    mappings_ = mappings;
    walk_mappings_ = tables_.mappings_of(process_, mappings);
    start_stack_vaddr_ = read_start_stack(process_.pid());
    const auto vdso = std::ranges::find(mappings, "[vdso]", &TracedMapping::path);
    vdso_vaddr_ = vdso == mappings.end() ? 0 : vdso->start_vaddr;
    libdw_.read_modules();
    has_cfi_.clear();
}

AgreementCheck::OurStack AgreementCheck::walk(const StoppedThread& thread) {
    static std::array<user_walk::walked_frame, abi::MAX_USER_FRAMES> frames;
    const user_walk::walk_process process{.mappings = walk_mappings_.data(),
                                          .mapping_count = walk_mappings_.size(),
                                          .vdso_vaddr = vdso_vaddr_,
                                          .start_stack_vaddr = start_stack_vaddr_,
                                          .stack_vaddr = thread.stack_vaddr(),
                                          .stack_bytes = thread.stack().size(),
                                          .stack = thread.stack().data(),
                                          .read_elsewhere = read_elsewhere,
                                          .elsewhere = &thread};
    OurStack ours;
    const user_walk::unwind_tables tables = tables_.tables();
    user_walk::use_unwind_tables(&tables);
    const auto count =
        user_walk::walk_frames(&process, thread.registers().data(), frames.data(), &ours.end);
    for (const user_walk::walked_frame& frame : std::span(frames).first(count)) {
        if (frame.word & FRAME_BY_FRAME_POINTER) {
            ours.reached_no_cfi = true;
            break;
        }
        ours.frames.push_back(
            {.pc_vaddr = frame.pc_vaddr, .is_activation = frame.is_return_address == 0});
    }
    ours.reached_no_cfi |= ours.end == abi::WALK_END_NO_CFI || ours.end == abi::WALK_END_ANONYMOUS;
    return ours;
}

void AgreementCheck::on_stop(const StoppedThread& thread) {
    const OurStack ours = walk(thread);
    ++result_.stops;
    ++result_.ends[kEndNames[ours.end]];
    result_.distinct_pcs.insert(thread.pc_vaddr());
    note_entry(thread);
    OracleStack libdw = libdw_.walk(thread);
    cut_outside_code(libdw);
    if (!judge_invented_rules(thread, ours)) judge(thread, ours, libdw);
}

bool AgreementCheck::has_cfi(std::uint64_t vaddr) {
    const auto [entry, is_new] = has_cfi_.try_emplace(vaddr);
    if (is_new) entry->second = libdw_.has_cfi_at(vaddr);
    return entry->second;
}

// At a function's entry the return address is on top of the stack (psABI 3.4.5).
void AgreementCheck::note_entry(const StoppedThread& thread) {
    std::array<std::uint8_t, kBeginOfStartCode.size()> code{};
    const std::uint64_t vaddr = thread.pc_vaddr();
    if (has_cfi(vaddr) || !thread.read(vaddr + 1, std::as_writable_bytes(std::span(code))) ||
        code != kBeginOfStartCode) {
        return;
    }
    std::uint64_t top = 0;
    if (!thread.read(thread.registers()[7], std::as_writable_bytes(std::span(&top, 1)))) return;
    entry_vaddr_ = vaddr;
    entry_return_vaddr_ = top;
}

bool AgreementCheck::judge_invented_rules(const StoppedThread& thread, const OurStack& ours) {
    const auto has_rule = [&](const OracleFrame& frame) { return has_cfi(call_vaddr(frame)); };
    const auto by_rule = std::span(ours.frames).first(ours.frames_with_rule());
    const auto invented = std::ranges::find_if_not(by_rule, has_rule);
    if (invented == by_rule.end()) return false;
    const bool is_last = &*invented == &ours.frames.back();
    if (invented->pc_vaddr - entry_vaddr_ < kMostStartCodeBytes && !is_last &&
        std::next(invented)->pc_vaddr == entry_return_vaddr_) {
        ++result_.as_entered;
        return true;
    }
    ++result_.differing;
    note(thread, "a rule where there is no CFI", invented->pc_vaddr,
         is_last ? kEndNames[ours.end] : fmt::format("ours {:#x}", std::next(invented)->pc_vaddr));
    return true;
}

void AgreementCheck::cut_outside_code(OracleStack& stack) const {
    const auto is_outside = [this](const OracleFrame& frame) {
        const TracedMapping* mapping = find_mapping(mappings_, call_vaddr(frame));
        return mapping == nullptr || !mapping->executable;
    };
    const auto first = std::ranges::find_if(stack.frames, is_outside);
    if (first == stack.frames.end()) return;
    stack.frames.erase(first, stack.frames.end());
    stack.gave_up.clear();
}

void AgreementCheck::judge(const StoppedThread& thread, const OurStack& ours,
                           const OracleStack& libdw) {
    const auto [verdict, equal_frames] = compare(ours.frames, libdw);
    result_.equal += equal_frames - std::min<std::size_t>(equal_frames, 1);
    if (verdict == Verdict::kEqual) {
        ++result_.equal;
        return;
    }
    const bool gave_up = verdict == Verdict::kWeEndedFirst;
    const std::uint64_t last_vaddr =
        equal_frames == 0 ? 0 : call_vaddr(ours.frames[equal_frames - 1]);
    if (!has_cfi(last_vaddr) || (gave_up && ours.reached_no_cfi)) {
        ++result_.without_cfi;
    } else if (is_go_assembly(libdw_.symbol_at(last_vaddr))) {
        ++result_.without_go_rules;
    } else {
        ask_libunwind(thread, ours, libdw, equal_frames);
    }
}

void AgreementCheck::ask_libunwind(const StoppedThread& thread, const OurStack& ours,
                                   const OracleStack& libdw, std::size_t at) {
    OracleStack libunwind = walk_with_libunwind(thread.thread());
    cut_outside_code(libunwind);
    const auto [verdict, equal_frames] = compare(ours.frames, libunwind);
    std::string what;
    if (verdict == Verdict::kEqual || equal_frames > at) {
        result_.as_libunwind += equal_frames - at + 1;
        what = "as libunwind says, not libdw";
    } else if (verdict == Verdict::kOracleGaveUp && !libdw.gave_up.empty()) {
        result_.unjudged += ours.frames.size() - at;
        what = "both oracles gave up";
    } else {
        ++result_.differing;
        what = "differs";
    }
    const auto said_by = [at](const OracleStack& stack) {
        if (at < stack.frames.size()) return fmt::format("{:#x}", stack.frames[at].pc_vaddr);
        return stack.gave_up.empty() ? std::string("the bottom") : stack.gave_up;
    };
    const std::string we = at < ours.frames.size() ? fmt::format("{:#x}", ours.frames[at].pc_vaddr)
                                                   : kEndNames[ours.end];
    note(thread, what, at == 0 ? thread.pc_vaddr() : ours.frames[at - 1].pc_vaddr,
         fmt::format("ours {}, libdw {}, libunwind {}", we, said_by(libdw), said_by(libunwind)));
}

// An example of each rule that is judged: a function has many.
void AgreementCheck::note(const StoppedThread& thread, const std::string& what,
                          std::uint64_t caller_of_vaddr, const std::string& frames) {
    const bool is_new_class = ++result_.unequal_by_class[what] == 1;
    const bool is_new_place = noted_places_.insert(caller_of_vaddr >> kPlaceShift).second;
    if (!is_new_class && (!is_new_place || result_.examples.size() >= kMostExamples)) return;
    result_.examples.push_back(fmt::format("{}: caller of {}, stopped at {}: {}", what,
                                           place(caller_of_vaddr), place(thread.pc_vaddr()),
                                           frames));
}

std::string AgreementCheck::place(std::uint64_t vaddr) const {
    const TracedMapping* mapping = find_mapping(mappings_, vaddr);
    if (mapping == nullptr) return fmt::format("{:#x}", vaddr);
    return fmt::format("{:#x} = {}+{:#x}", vaddr, mapping->path,
                       vaddr - mapping->start_vaddr + mapping->file_offset);
}

}  // namespace bobbin::test

// SPDX-License-Identifier: Apache-2.0
#include "luajit/find_vm.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "luajit/code_template.h"
#include "luajit/vm_templates.h"

namespace bobbin::luajit {
namespace {

constexpr std::uint64_t kMinPlaceBytes = 8U << 10;
constexpr std::uint64_t kWindowBytes = 1U << 20;
constexpr std::uint64_t kAroundCallBytes = kMaxAssemblyBytes;

// The fixed bytes in the midst of lj_vm_call's beginning: mov ebx, FRAME_C; mov [rsp+..], edx.
constexpr std::array<unsigned char, 8> kNeedle{0xbb, 1, 0, 0, 0, 0x89, 0x54, 0x24};
// What stands before them, from push rbp on: with four registers, and with six.
constexpr std::array<std::uint64_t, 2> kBeforeNeedleBytes{10, 14};
constexpr std::size_t kBeginInstructions = 9;  // of kVmCall: up to and with the needle
constexpr std::uint64_t kBeginBytes = 14 + kNeedle.size() + 1;

// What an interpreter's only row says.
bool is_interpreter(const cfi::UnwindRule& rule) {
    return rule.cfa == cfi::CfaKind::kRegisterOffset && rule.cfa_register == cfi::kRsp &&
           (rule.cfa_offset == 80 || rule.cfa_offset == 96) && rule.rbp == cfi::RbpKind::kAtCfa &&
           rule.rbp_offset == -16;
}

bool is_likely(const cfi::UnwindRule& rule) {
    return rule.cfa == cfi::CfaKind::kNoCfi || is_interpreter(rule);
}

VaddrRange overlap(const VaddrRange& one, const VaddrRange& other) {
    const std::uint64_t begin = std::max(one.begin_file_vaddr, other.begin_file_vaddr);
    return {begin, std::max(begin, std::min(one.end_file_vaddr, other.end_file_vaddr))};
}

VaddrRange range_in_file(const elf::LoadSegment& segment) {
    const std::uint64_t begin = segment.file_vaddr;
    return {begin, begin + std::min(segment.file_size_bytes, ~std::uint64_t{0} - begin)};
}

// Where lj_vm_call was seen.
struct SeenCall {
    std::uint64_t file_vaddr = 0;
    const elf::LoadSegment* segment = nullptr;
};

class CodeScan {
public:
    CodeScan(const elf::FileBytes& file, SearchLimits limits) : file_(file), limits_(limits) {
        CodeTemplate beginning = kVmCall;
        beginning.instructions = beginning.instructions.first(kBeginInstructions);
        for (const bool six : {false, true}) {
            matchers_.emplace_back(beginning, BuildKind{false, six});
        }
    }

    // Where `places`, which ascend, lie in it.
    Result<> scan(const elf::LoadSegment& segment, std::span<const VaddrRange> places);
    [[nodiscard]] const std::optional<SeenCall>& call() const { return call_; }

private:
    Result<> scan_range(const elf::LoadSegment& segment, VaddrRange range);
    Result<> look_at(std::span<const std::byte> code, std::uint64_t file_vaddr,
                     const elf::LoadSegment& segment);
    Result<> look_before(std::span<const std::byte> code, std::size_t needle,
                         std::uint64_t file_vaddr, const elf::LoadSegment& segment);

    const elf::FileBytes& file_;
    SearchLimits limits_;
    std::vector<CodeMatcher> matchers_;
    std::optional<SeenCall> call_;
};

Result<> CodeScan::scan(const elf::LoadSegment& segment, std::span<const VaddrRange> places) {
    const VaddrRange range = range_in_file(segment);
    auto place =
        std::ranges::upper_bound(places, range.begin_file_vaddr, {}, &VaddrRange::end_file_vaddr);
    for (; place != places.end() && place->begin_file_vaddr < range.end_file_vaddr; ++place) {
        BOBBIN_CHECK(scan_range(segment, overlap(range, *place)));
    }
    return {};
}

// By windows that overlap by less than what is looked for.
Result<> CodeScan::scan_range(const elf::LoadSegment& segment, VaddrRange range) {
    constexpr std::uint64_t kOverlapBytes = kBeginBytes - 1;
    while (range.begin_file_vaddr + kOverlapBytes < range.end_file_vaddr) {
        const std::uint64_t size =
            std::min(kWindowBytes, range.end_file_vaddr - range.begin_file_vaddr);
        if (size > limits_.code_bytes) return fail("there is too much code to search for LuaJIT");
        if (std::chrono::steady_clock::now() > limits_.deadline) {
            return fail("the search for LuaJIT takes too long");
        }
        limits_.code_bytes -= size;
        const std::uint64_t offset =
            segment.file_offset + (range.begin_file_vaddr - segment.file_vaddr);
        BOBBIN_TRY(const std::vector<std::byte> code, file_.read(offset, size));
        BOBBIN_CHECK(look_at(code, range.begin_file_vaddr, segment));
        range.begin_file_vaddr += size - kOverlapBytes;
    }
    return {};
}

Result<> CodeScan::look_at(std::span<const std::byte> code, std::uint64_t file_vaddr,
                           const elf::LoadSegment& segment) {
    std::size_t from = 0;
    while (from < code.size()) {
        const void* found =
            ::memmem(code.data() + from, code.size() - from, kNeedle.data(), kNeedle.size());
        if (found == nullptr) break;
        const auto at =
            static_cast<std::size_t>(static_cast<const std::byte*>(found) - code.data());
        BOBBIN_CHECK(look_before(code, at, file_vaddr, segment));
        from = at + 1;
    }
    return {};
}

Result<> CodeScan::look_before(std::span<const std::byte> code, std::size_t needle,
                               std::uint64_t file_vaddr, const elf::LoadSegment& segment) {
    for (std::size_t i = 0; i < matchers_.size(); ++i) {
        if (needle < kBeforeNeedleBytes[i]) continue;
        const std::size_t begin = needle - kBeforeNeedleBytes[i];
        if (!matchers_[i].match_at(code, begin)) continue;
        const std::uint64_t found_file_vaddr = file_vaddr + begin;
        if (call_ && call_->file_vaddr != found_file_vaddr) {
            return fail("there are several LuaJIT VMs, at {:#x} and {:#x}", call_->file_vaddr,
                        found_file_vaddr);
        }
        call_ = SeenCall{found_file_vaddr, &segment};
    }
    return {};
}

// The row that covers a VM's code, if that is an interpreter's.
std::optional<VaddrRange> find_assembly(const cfi::UnwindRows& rows, std::uint64_t file_vaddr) {
    const auto after = std::ranges::upper_bound(
        rows.rows, file_vaddr, {}, [&](const cfi::UnwindRow& row) { return rows.file_vaddr(row); });
    if (after == rows.rows.begin() || after == rows.rows.end()) return std::nullopt;
    const cfi::UnwindRow& row = *std::prev(after);
    if (!is_interpreter(rows.rule_of(row))) return std::nullopt;
    return VaddrRange{rows.file_vaddr(row), rows.file_vaddr(*after)};
}

Result<VmLayout> read_around(const elf::FileBytes& file, const SeenCall& call,
                             const cfi::UnwindRows& rows) {
    const VaddrRange segment = range_in_file(*call.segment);
    const std::uint64_t before =
        std::min(kAroundCallBytes, call.file_vaddr - segment.begin_file_vaddr);
    const std::uint64_t behind =
        std::min(kAroundCallBytes, segment.end_file_vaddr - call.file_vaddr);
    const std::uint64_t begin_file_vaddr = call.file_vaddr - before;
    const std::uint64_t offset =
        call.segment->file_offset + (begin_file_vaddr - segment.begin_file_vaddr);
    BOBBIN_TRY(const std::vector<std::byte> code, file.read(offset, before + behind));
    return read_layout({code, begin_file_vaddr, find_assembly(rows, call.file_vaddr)});
}

}  // namespace

std::vector<VaddrRange> likely_places(const cfi::UnwindRows& rows) {
    constexpr std::uint64_t kLast = ~std::uint64_t{0};
    if (rows.rows.empty()) return {{0, kLast}};
    std::vector<VaddrRange> places;
    const auto add = [&](std::uint64_t begin, std::uint64_t end) {
        if (end - begin >= kMinPlaceBytes) places.push_back({begin, end});
    };
    add(0, rows.file_vaddr(rows.rows.front()));
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        if (!is_likely(rows.rule_of(rows.rows[i]))) continue;
        const bool is_last = i + 1 == rows.rows.size();
        add(rows.file_vaddr(rows.rows[i]), is_last ? kLast : rows.file_vaddr(rows.rows[i + 1]));
    }
    return places;
}

Result<std::optional<VmLayout>> find_vm(const elf::FileBytes& file,
                                        std::span<const elf::LoadSegment> segments,
                                        const cfi::UnwindRows& rows, SearchLimits limits) {
    const std::vector<VaddrRange> places = likely_places(rows);
    CodeScan scan(file, limits);
    for (const elf::LoadSegment& segment : segments) {
        if (segment.executable) BOBBIN_CHECK(scan.scan(segment, places));
    }
    if (!scan.call()) return std::nullopt;
    BOBBIN_TRY(const VmLayout layout, read_around(file, *scan.call(), rows));
    return layout;
}

}  // namespace bobbin::luajit

// SPDX-License-Identifier: Apache-2.0
#include "cfi/eh_frame.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "cfi/cfa_program.h"
#include "cfi/cie_fde.h"
#include "cfi/plain_program.h"
#include "cfi/pointer_encoding.h"
#include "cfi/row_writer.h"
#include "cfi/rule_set.h"
#include "cfi/sort_by_start.h"

namespace bobbin::cfi {
namespace {

constexpr std::uint64_t kMaxSectionBytes = std::numeric_limits<std::uint32_t>::max();
// 5.3 over libLLVM-19, 5.5 over libc; the research over 28 large binaries has 6.6 of merged rows.
constexpr std::size_t kSectionBytesPerRow = 5;
// 41 over libc, 53 over libLLVM-19, 33 over a JVM. Too much costs addresses only.
constexpr std::size_t kSectionBytesPerFde = 32;
// Rules that say where rbx is cost the kernel a special each, of which there are 4,096: ld.so's 13
// KiB have some 200, a large program's would have thousands.
constexpr std::size_t kMaxBytesToFollowRbx = std::size_t{64} << 10;
constexpr std::uint64_t kMaxSpanBytes = std::numeric_limits<std::uint32_t>::max();

// The CIEs met so far, in the order of the section. An FDE can name only one that stands before it,
// so one pass reads each CIE once, however many point to it.
class CieTable {
public:
    void add(const Cie& cie) { cies_.push_back(cie); }

    std::optional<std::uint32_t> index_of(std::uint32_t section_offset) {
        if (last_ < cies_.size() && cies_[last_].section_offset == section_offset) return last_;
        const auto found =
            std::ranges::lower_bound(cies_, section_offset, {}, &Cie::section_offset);
        if (found == cies_.end() || found->section_offset != section_offset) return std::nullopt;
        last_ = static_cast<std::uint32_t>(found - cies_.begin());
        return last_;
    }
    const Cie& operator[](std::uint32_t index) const { return cies_[index]; }

private:
    std::vector<Cie> cies_;
    std::uint32_t last_ = 0;
};

class SectionReader {
public:
    SectionReader(SectionKind kind, std::span<const std::byte> section,
                  std::uint64_t section_file_vaddr, bool follow_rbx)
        : kind_(kind),
          section_(section),
          section_file_vaddr_(section_file_vaddr),
          program_(rules_, follow_rbx) {}

    Result<EhFrame> read() {
        collect();
        write_rows();
        const bool damaged = frame_.fde_refused_count > 0 || !frame_.stopped.empty();
        if (frame_.fde_count == 0 && damaged) return fail("{}", why_no_rows());
        frame_.unwind.rules = rules_.take();
        return std::move(frame_);
    }

private:
    void collect();
    void collect_cie(const Entry& entry);
    void collect_fde(const Entry& entry);
    std::vector<StartPlace> order_by_start();
    void write_rows();
    bool write_function(const Fde& fde, std::uint64_t first_file_vaddr, RowWriter& rows);
    [[nodiscard]] bool can_be_plain(const CfaProgram::Function& function) const;
    [[nodiscard]] std::string why_no_rows() const;

    SectionKind kind_ = SectionKind::kEhFrame;
    std::span<const std::byte> section_;
    std::uint64_t section_file_vaddr_ = 0;
    CieTable cies_;
    std::vector<Fde> fdes_;
    RuleSet rules_;
    PlainProgram plain_program_{rules_};
    CfaProgram program_;
    EhFrame frame_;
};

void SectionReader::collect() {
    fdes_.reserve(section_.size() / kSectionBytesPerFde);
    EntryReader entries(section_, kind_);
    while (const std::optional<Entry> entry = entries.next()) {
        switch (entry->kind) {
            case EntryKind::kCie:
                collect_cie(*entry);
                break;
            case EntryKind::kFde:
                collect_fde(*entry);
                break;
            case EntryKind::kMalformed:
                ++frame_.fde_refused_count;
                break;
        }
    }
    frame_.stopped = entries.stopped();
}

// A refused CIE is left out; what counts as refused are the FDEs that name it.
void SectionReader::collect_cie(const Entry& entry) {
    std::optional<Cie> cie = parse_cie(entry);
    const bool addresses_known =
        cie && (kind_ == SectionKind::kEhFrame || !is_pc_relative(cie->pointer_encoding));
    if (addresses_known && program_.run_initial(*cie)) cies_.add(*cie);
}

void SectionReader::collect_fde(const Entry& entry) {
    const std::optional<std::uint32_t> cie_index = cies_.index_of(entry.cie_section_offset);
    std::optional<Fde> fde;
    if (cie_index) fde = parse_fde(entry, cies_[*cie_index], section_file_vaddr_);
    if (!fde) {
        ++frame_.fde_refused_count;
        return;
    }
    fde->cie_index = *cie_index;
    if (!fde->is_empty()) fdes_.push_back(*fde);
}

std::vector<StartPlace> SectionReader::order_by_start() {
    std::vector<StartPlace> places;
    places.reserve(fdes_.size());
    const std::uint64_t base_file_vaddr = frame_.unwind.base_file_vaddr;
    for (std::uint32_t i = 0; i < fdes_.size(); ++i) {
        if (fdes_[i].end_file_vaddr - base_file_vaddr > kMaxSpanBytes) {
            ++frame_.fde_refused_count;
            continue;
        }
        const std::uint64_t vaddr_from_base = fdes_[i].start_file_vaddr - base_file_vaddr;
        places.push_back({static_cast<std::uint32_t>(vaddr_from_base), i});
    }
    sort_by_start(places);
    return places;
}

void SectionReader::write_rows() {
    if (fdes_.empty()) return;
    frame_.unwind.base_file_vaddr =
        std::ranges::min(fdes_, {}, &Fde::start_file_vaddr).start_file_vaddr;
    RowWriter rows(frame_.unwind.base_file_vaddr, section_.size() / kSectionBytesPerRow);
    std::uint64_t covered_end_file_vaddr = rows.base_file_vaddr();
    for (const StartPlace& place : order_by_start()) {
        const Fde& fde = fdes_[place.index];
        if (fde.end_file_vaddr <= covered_end_file_vaddr) continue;
        const std::uint64_t first = std::max(fde.start_file_vaddr, covered_end_file_vaddr);
        if (!write_function(fde, first, rows)) {
            ++frame_.fde_refused_count;
            continue;
        }
        ++frame_.fde_count;
        covered_end_file_vaddr = fde.end_file_vaddr;
    }
    if (rows.full()) frame_.stopped = fmt::format("more than {} rows", RowWriter::kMaxRows);
    frame_.unwind.rows = rows.take();
}

bool SectionReader::write_function(const Fde& fde, std::uint64_t first_file_vaddr,
                                   RowWriter& rows) {
    const CfaProgram::Function function = {
        .instructions =
            section_.subspan(fde.instructions_section_offset, fde.instructions_size_bytes),
        .instructions_file_vaddr = section_file_vaddr_ + fde.instructions_section_offset,
        .start_file_vaddr = fde.start_file_vaddr,
        .end_file_vaddr = fde.end_file_vaddr,
        .first_file_vaddr = first_file_vaddr,
    };
    if (can_be_plain(function) && plain_program_.run(cies_[fde.cie_index], function, rows))
        return true;
    rows.begin_function();
    if (program_.run(cies_[fde.cie_index], function, rows)) return true;
    rows.take_back_function();
    return false;
}

// Whole, and with bytes behind it: true but for the last of a section and where two overlap.
bool SectionReader::can_be_plain(const CfaProgram::Function& function) const {
    const std::span<const std::byte> instructions = function.instructions;
    const std::byte* end = section_.data() + section_.size();
    const std::ptrdiff_t bytes_behind = end - (instructions.data() + instructions.size());
    return function.first_file_vaddr == function.start_file_vaddr &&
           bytes_behind >= static_cast<std::ptrdiff_t>(PlainProgram::kReadAheadBytes);
}

std::string SectionReader::why_no_rows() const {
    if (!frame_.stopped.empty()) return frame_.stopped;
    return fmt::format("all {} FDEs are malformed", frame_.fde_refused_count);
}

// ld.so finds the CFA of its lazy binding (_dl_runtime_resolve) by rbx, far from the leaf.
bool has_cfa_by_rbx(const EhFrame& frame) {
    return std::ranges::any_of(frame.unwind.rules, [](const UnwindRule& rule) {
        return rule.cfa == CfaKind::kRegisterOffset && rule.cfa_register == kRbx;
    });
}

Result<EhFrame> read_section(SectionKind kind, std::span<const std::byte> section,
                             std::uint64_t section_file_vaddr) {
    if (section.size() > kMaxSectionBytes) {
        return fail("a section of {} bytes; at most {} are read", section.size(), kMaxSectionBytes);
    }
    auto frame = SectionReader(kind, section, section_file_vaddr, false).read();
    if (!frame || section.size() > kMaxBytesToFollowRbx || !has_cfa_by_rbx(*frame)) return frame;
    return SectionReader(kind, section, section_file_vaddr, true).read();
}

}  // namespace

Result<EhFrame> read_eh_frame(std::span<const std::byte> section,
                              std::uint64_t section_file_vaddr) {
    return read_section(SectionKind::kEhFrame, section, section_file_vaddr);
}

Result<EhFrame> read_debug_frame(std::span<const std::byte> section) {
    return read_section(SectionKind::kDebugFrame, section, 0);
}

}  // namespace bobbin::cfi

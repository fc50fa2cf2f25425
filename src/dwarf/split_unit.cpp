// SPDX-License-Identifier: Apache-2.0
#include "dwarf/split_unit.h"

#include "dwarf/constants.h"

namespace bobbin::dwarf {
namespace {

// What a .dwo of version 4 has beside its unit are types, in a section of their own.
constexpr std::size_t kMaxUnitsOfDwo = 64;
constexpr std::uint64_t kMaxSplitHeaderBytes = 40;

// The index of a package, an open hash table and, for each unit, where its parts begin.
class PackageIndex {
public:
    explicit PackageIndex(Section& section) : section_(section) {
        const std::uint64_t word = section.number(0, 4);
        const std::uint64_t version = (word & 0xffff) == 5 ? 5 : word;
        is_version_5_ = version == 5;
        if (version != 2 && version != 5) return;
        column_count_ = section.number(4, 4);
        unit_count_ = section.number(8, 4);
        slot_count_ = section.number(12, 4);
    }

    // From 1; 0: not there.
    [[nodiscard]] std::uint64_t row_of(std::uint64_t dwo_id) {
        if (slot_count_ == 0 || (slot_count_ & (slot_count_ - 1)) != 0) return 0;
        const std::uint64_t mask = slot_count_ - 1;
        const std::uint64_t step = ((dwo_id >> 32) & mask) | 1;
        std::uint64_t slot = dwo_id & mask;
        for (std::uint64_t i = 0; i < slot_count_ && i < section_.size_bytes(); ++i) {
            const std::uint64_t row = section_.number(rows_offset() + slot * 4, 4);
            if (row == 0) return 0;
            if (section_.number(kHeaderBytes + slot * 8, 8) == dwo_id) {
                return row <= unit_count_ ? row : 0;
            }
            slot = (slot + step) & mask;
        }
        return 0;
    }

    std::uint64_t offset_of(std::uint64_t row, std::uint64_t package_section) {
        const std::uint64_t columns = rows_offset() + slot_count_ * 4;
        for (std::uint64_t i = 0; i < column_count_ && i < kMaxColumns; ++i) {
            if (section_.number(columns + i * 4, 4) != package_section) continue;
            return section_.number(columns + (row * column_count_ + i) * 4, 4);
        }
        return 0;
    }

    [[nodiscard]] bool is_version_5() const { return is_version_5_; }

private:
    static constexpr std::uint64_t kHeaderBytes = 16;
    static constexpr std::uint64_t kMaxColumns = 16;  // 8 kinds are defined

    [[nodiscard]] std::uint64_t rows_offset() const { return kHeaderBytes + slot_count_ * 8; }

    Section& section_;
    bool is_version_5_ = false;
    std::uint64_t column_count_ = 0;
    std::uint64_t unit_count_ = 0;
    std::uint64_t slot_count_ = 0;
};

}  // namespace

std::optional<Unit> find_split_unit(DebugFile& dwo, const Unit& skeleton) {
    const std::vector<UnitHeader>& headers = dwo.unit_headers();
    for (std::size_t i = 0; i < headers.size() && i < kMaxUnitsOfDwo; ++i) {
        if (!headers[i].has_code()) continue;
        Unit unit = read_split_unit(dwo, headers[i], skeleton, {});
        if (unit.dwo_id == skeleton.dwo_id) return unit;
    }
    return std::nullopt;
}

std::optional<Unit> find_packaged_unit(DebugFile& package, const Unit& skeleton) {
    PackageIndex index(package.sections.cu_index);
    const std::uint64_t row = index.row_of(skeleton.dwo_id);
    if (row == 0) return std::nullopt;
    const std::uint64_t offset = index.offset_of(row, kPackageInfo);
    const auto header = read_unit_header(package.far_view(offset, kMaxSplitHeaderBytes), offset);
    if (!header || header->end_offset > package.sections.info.size_bytes()) return std::nullopt;
    Contribution contribution;
    contribution.abbrev = index.offset_of(row, kPackageAbbrev);
    contribution.str_offsets = index.offset_of(row, kPackageStrOffsets);
    if (index.is_version_5()) contribution.rnglists = index.offset_of(row, kPackageRnglists);
    return read_split_unit(package, *header, skeleton, contribution);
}

}  // namespace bobbin::dwarf

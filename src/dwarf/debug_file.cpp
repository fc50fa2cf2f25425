// SPDX-License-Identifier: Apache-2.0
#include "dwarf/debug_file.h"

#include "dwarf/unit.h"

namespace bobbin::dwarf {
namespace {

// ceph-osd's 415 tables have 12 MiB. Those in use live on in their units.
constexpr std::size_t kMaxAbbrevsBytes = 16U << 20;
// Tables do not state their size. The largest in ceph-osd has 30 KiB, the largest of all may be
// the whole section.
constexpr std::uint64_t kUsualTableBytes = 64U << 10;
// Lists and indexes lie in the order of the DIEs that refer to them.
constexpr std::uint64_t kListWindowBytes = 64U << 10;
// Ranges of functions and of what is inlined into them stand apart, so that a window goes to and
// fro: in ceph-mds, 4.5 MiB of them, 260 MB were read. ceph-osd has 14 MiB.
constexpr std::uint64_t kWholeListsBytes = 16U << 20;
constexpr std::uint64_t kWholeFilesBytes = 1U << 20;
// Names of one unit's functions stand near each other: of 10,000 places in ceph-mds, 38 MB of
// strings, each such part has some.
constexpr std::uint64_t kLateWindowBytes = 16U << 10;

}  // namespace

DebugFile::DebugFile(Sections file_sections) : sections(std::move(file_sections)) {
    if (sections.far_info.is_empty()) sections.far_info = sections.info;
    if (sections.late_str.is_empty()) sections.late_str = sections.str;
    sections.info.set_window_bytes(256);
    sections.far_info.set_window_bytes(512);
    sections.str.set_window_bytes(512);
    sections.late_str.set_window_bytes(kLateWindowBytes);
    sections.abbrev.set_window_bytes(kUsualTableBytes);
    sections.rnglists_offsets = sections.rnglists;
    sections.line_str.set_whole_bytes(kWholeFilesBytes);
    for (Section* section : {&sections.rnglists, &sections.ranges}) {
        section->set_whole_bytes(kWholeListsBytes);
    }
    for (Section* section : {&sections.str_offsets, &sections.addr, &sections.ranges,
                             &sections.rnglists, &sections.rnglists_offsets}) {
        section->set_window_bytes(kListWindowBytes);
    }
}

DebugFile::~DebugFile() = default;

const std::vector<UnitHeader>& DebugFile::unit_headers() {
    if (!unit_headers_) {
        unit_headers_ = read_unit_headers(sections.far_info);
        units_.resize(unit_headers_->size());
    }
    return *unit_headers_;
}

Unit& DebugFile::unit(std::size_t index) {
    const UnitHeader& header = unit_headers()[index];
    if (units_[index] == nullptr) {
        units_[index] = std::make_unique<Unit>(read_unit(*this, header));
    }
    return *units_[index];
}

Unit* DebugFile::unit_at(std::uint64_t info_offset) {
    const auto index = find_unit(unit_headers(), info_offset);
    return index ? &unit(*index) : nullptr;
}

std::shared_ptr<const AbbrevTable> DebugFile::abbrevs_at(std::uint64_t offset, Encoding encoding) {
    const auto encoding_key = static_cast<std::uint32_t>(
        (encoding.version << 16) | (encoding.offset_bytes << 8) | encoding.address_bytes);
    const AbbrevKey key(offset, encoding_key);
    if (const auto found = abbrevs_.find(key); found != abbrevs_.end()) return found->second;

    std::uint64_t count = kUsualTableBytes;
    std::span<const std::byte> bytes = sections.abbrev.view(offset, count);
    auto table = std::make_shared<AbbrevTable>(AbbrevTable::read(bytes, encoding));
    while (!table->is_whole() && bytes.size() == count) {
        count *= 8;
        bytes = sections.abbrev.view(offset, count);
        *table = AbbrevTable::read(bytes, encoding);
    }
    if (abbrevs_bytes_ > kMaxAbbrevsBytes) {
        abbrevs_.clear();
        abbrevs_bytes_ = 0;
    }
    abbrevs_bytes_ += table->memory_bytes();
    return abbrevs_[key] = std::move(table);
}

}  // namespace bobbin::dwarf

// SPDX-License-Identifier: Apache-2.0
#include "pclntab/function_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/byte_reader.h"

namespace bobbin::pclntab {
namespace {

struct Magic {
    std::uint32_t number;
    Version version;
};
constexpr std::array kMagics = {
    Magic{0xfffffffb, Version::kGo12},
    Magic{0xfffffffa, Version::kGo116},
    Magic{0xfffffff0, Version::kGo118},
    Magic{0xfffffff1, Version::kGo120},
};
constexpr std::uint8_t kQuantum = 1;  // x86-64: instructions have any length
constexpr std::uint8_t kPointerBytes = 8;

std::optional<Version> read_magic(ByteReader& in) {
    const auto number = in.u32();
    const bool padded = in.u16() == 0;
    const bool ours = in.u8() == kQuantum && in.u8() == kPointerBytes;
    const auto* const magic = std::ranges::find(kMagics, number, &Magic::number);
    if (!in.ok() || !padded || !ours || magic == kMagics.end()) return std::nullopt;
    return magic->version;
}

// Bytes of an address in the entries and at the head of a record.
constexpr std::uint64_t address_bytes(Version version) {
    return version >= Version::kGo118 ? 4 : 8;
}

// nameOff, args, deferreturn, pcsp, pcfile, pcln, npcdata; cuOffset since 1.16, startLine since
// 1.20; funcID, flag.
struct Record {
    std::uint32_t name_offset = 0;
    std::uint32_t stack_depths_offset = 0;
    std::uint8_t flags = 0;
};

std::optional<Record> read_record(std::span<const std::byte> bytes, Version version) {
    ByteReader in(bytes);
    Record record;
    in.skip(address_bytes(version));
    record.name_offset = in.u32();
    in.skip(8);
    record.stack_depths_offset = in.u32();
    in.skip(12);
    if (version >= Version::kGo116) in.skip(4);
    if (version >= Version::kGo120) in.skip(4);
    in.skip(1);
    const std::uint8_t flags = in.u8();
    if (!in.ok()) return std::nullopt;
    // Up to Go 1.11 nfuncdata has all four bytes.
    if (version >= Version::kGo116) record.flags = flags;
    return record;
}

std::string_view text_at(std::span<const std::byte> bytes, std::size_t max) {
    if (bytes.empty()) return {};
    const auto* const text = reinterpret_cast<const char*>(bytes.data());
    return {text, ::strnlen(text, std::min(bytes.size(), max))};
}

}  // namespace

Result<FunctionTable> FunctionTable::open(std::span<const std::byte> section) {
    FunctionTable table(section);
    BOBBIN_CHECK(table.read_header());
    return table;
}

Result<> FunctionTable::read_header() {
    ByteReader in(section_);
    const std::optional<Version> version = read_magic(in);
    if (!version) return fail("not a function table of Go for x86-64");
    version_ = *version;
    const std::uint64_t count = in.u64();
    entries_start_ = in.position();
    if (version_ >= Version::kGo116) {
        in.skip(8);  // nfiles
        if (has_offsets()) text_start_file_vaddr_ = in.u64();
        names_start_ = in.u64();
        unit_files_start_ = in.u64();
        files_start_ = in.u64();
        values_start_ = in.u64();
        functions_start_ = in.u64();
        entries_start_ = functions_start_;
    }
    const std::uint64_t entry_bytes = 2 * address_bytes(version_);
    const std::uint64_t room = from(entries_start_, 0).size();
    // Each entry is an address and the offset of its record; one more address ends the last.
    if (!in.ok() || count > room / entry_bytes ||
        count * entry_bytes + address_bytes(version_) > room) {
        return fail("the function table of Go leaves its section");
    }
    function_count_ = static_cast<std::size_t>(count);
    // Up to Go 1.15 the offset of the file table stands behind the entries.
    if (version_ == Version::kGo12) {
        ByteReader behind(from(entries_start_, count * entry_bytes + address_bytes(version_)));
        files_start_ = behind.u32();
    }
    return {};
}

std::span<const std::byte> FunctionTable::from(std::uint64_t start, std::uint64_t offset) const {
    if (start > section_.size() || offset > section_.size() - start) return {};
    return section_.subspan(static_cast<std::size_t>(start + offset));
}

std::uint64_t FunctionTable::read_word(std::uint64_t offset) const {
    ByteReader in(from(entries_start_, offset));
    return has_offsets() ? in.u32() : in.u64();
}

std::uint64_t FunctionTable::start_of(std::size_t index) const {
    return text_start_file_vaddr_ + read_word(index * 2 * address_bytes(version_));
}

std::optional<std::size_t> FunctionTable::find(std::uint64_t file_vaddr) const {
    // The entry behind the last function's says where that ends.
    if (size() == 0 || file_vaddr < start_of(0) || file_vaddr >= start_of(size())) {
        return std::nullopt;
    }
    std::size_t low = 0;
    std::size_t high = size();
    while (high - low > 1) {
        const std::size_t middle = low + (high - low) / 2;
        (start_of(middle) <= file_vaddr ? low : high) = middle;
    }
    return low;
}

std::optional<Function> FunctionTable::function(std::size_t index) const {
    const std::uint64_t word = address_bytes(version_);
    const std::uint64_t record_offset = read_word((index * 2 + 1) * word);
    const auto record = read_record(from(functions_start_, record_offset), version_);
    Function function;
    function.start_file_vaddr = start_of(index);
    function.end_file_vaddr = start_of(index + 1);
    if (!record || function.end_file_vaddr < function.start_file_vaddr) return std::nullopt;
    function.record_offset = functions_start_ + record_offset;
    function.name_offset = record->name_offset;
    function.stack_depths_offset = record->stack_depths_offset;
    function.flags = record->flags;
    return function;
}

std::string_view FunctionTable::name_of(const Function& function) const {
    return text_at(from(names_start_, function.name_offset), kMaxNameBytes);
}

std::string_view FunctionTable::name_at(std::uint32_t name_offset) const {
    return text_at(from(names_start_, name_offset), kMaxTextBytes);
}

std::string_view FunctionTable::file_name(std::uint32_t unit_offset, std::uint32_t number) const {
    constexpr std::uint64_t kOffsetBytes = 4;
    constexpr std::uint32_t kNoFile = 0xffffffff;  // of a unit's file that the linker left out
    const bool has_units = version_ >= Version::kGo116;
    if (!has_units && number == 0) return {};  // where the count of files stands
    const std::uint64_t index = std::uint64_t{has_units ? unit_offset : 0} + number;
    ByteReader in(from(has_units ? unit_files_start_ : files_start_, index * kOffsetBytes));
    const std::uint32_t offset = in.u32();
    if (!in.ok() || offset == kNoFile) return {};
    return text_at(from(has_units ? files_start_ : 0, offset), kMaxTextBytes);
}

std::span<const std::byte> FunctionTable::values_at(std::uint32_t offset) const {
    return from(values_start_, offset);
}

std::span<const std::byte> FunctionTable::record_of(const Function& function) const {
    return from(0, function.record_offset);
}

std::span<const std::byte> FunctionTable::stack_depths_of(const Function& function) const {
    return from(values_start_, function.stack_depths_offset);
}

std::optional<std::size_t> find_function_table(std::span<const std::byte> section) {
    constexpr std::size_t kAlignment = 8;
    for (std::size_t at = 0; at < section.size(); at += kAlignment) {
        ByteReader in(section.subspan(at));
        if (read_magic(in)) return at;
    }
    return std::nullopt;
}

}  // namespace bobbin::pclntab

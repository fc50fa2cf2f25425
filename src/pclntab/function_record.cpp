// SPDX-License-Identifier: Apache-2.0
#include "pclntab/function_record.h"

#include "base/byte_reader.h"

namespace bobbin::pclntab {
namespace {

constexpr std::uint64_t kTableOffsetBytes = 4;
constexpr std::uint64_t kAddressBytes = 8;
constexpr std::uint32_t kNoTree = 0xffffffff;

struct Counts {
    std::uint32_t tables = 0;  // npcdata
    std::uint8_t data = 0;     // nfuncdata
};

// Offsets of the tables that are numbered stand behind the record.
std::uint32_t read_index_offset(ByteReader in, const Counts& counts, const InlineLayout& layout) {
    if (layout.index_table >= counts.tables) return 0;
    in.skip(layout.index_table * kTableOffsetBytes);
    return in.u32();
}

// And behind these what was called funcdata: addresses, aligned, up to Go 1.17; offsets since.
std::optional<std::uint64_t> read_tree(ByteReader in, const Counts& counts,
                                       const InlineLayout& layout) {
    if (layout.tree >= counts.data) return std::nullopt;
    in.skip(counts.tables * kTableOffsetBytes);
    if (layout.has_addresses) {
        in.skip((kAddressBytes - in.position() % kAddressBytes) % kAddressBytes);
        in.skip(layout.tree * kAddressBytes);
        const std::uint64_t address = in.u64();
        return address == 0 ? std::nullopt : std::optional(address);
    }
    in.skip(layout.tree * kTableOffsetBytes);
    const std::uint32_t offset = in.u32();
    return !in.ok() || offset == kNoTree ? std::nullopt : std::optional<std::uint64_t>(offset);
}

}  // namespace

InlineLayout inline_layout(Version version, bool has_build_info) {
    if (version == Version::kGo120) return {};
    InlineLayout layout{.call_bytes = 20, .name_at = 12, .parent_pc_at = 16};
    layout.has_addresses = version < Version::kGo118;
    if (version == Version::kGo12) {
        layout.index_table = has_build_info ? 2 : 1;
        layout.tree = has_build_info ? 4 : 2;
    }
    return layout;
}

std::optional<FunctionRecord> read_function_record(const FunctionTable& table,
                                                   const Function& function,
                                                   const InlineLayout& layout) {
    ByteReader in(table.record_of(function));
    FunctionRecord record;
    in.skip(table.version() >= Version::kGo118 ? 4 : 8);  // entry
    in.skip(4 + 4 + 4 + 4);                               // nameOff, args, deferreturn, pcsp
    record.files_offset = in.u32();
    record.lines_offset = in.u32();
    Counts counts{.tables = in.u32()};
    if (table.version() >= Version::kGo116) record.unit_offset = in.u32();
    if (table.version() >= Version::kGo120) in.skip(4);  // startLine
    in.skip(3);                                          // funcID, flag, pad
    counts.data = in.u8();                               // 0 up to Go 1.11: it has four bytes there
    if (!in.ok()) return std::nullopt;
    record.inline_index_offset = read_index_offset(in, counts, layout);
    record.inline_tree = read_tree(in, counts, layout);
    return record;
}

}  // namespace bobbin::pclntab

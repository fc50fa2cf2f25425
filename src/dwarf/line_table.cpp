// SPDX-License-Identifier: Apache-2.0
#include "dwarf/line_table.h"

#include <algorithm>

#include "dwarf/constants.h"
#include "dwarf/line_program.h"

namespace bobbin::dwarf {
namespace {

// The longest of libxul's units lists 6,000 files.
constexpr std::size_t kMaxFiles = 1U << 18;
constexpr std::size_t kMaxFormats = 16;  // DWARF 5 defines five kinds
constexpr std::uint32_t kDwarf64 = 0xffffffff;

struct EntryFormat {
    std::uint64_t content = 0;
    Attribute value;
};

std::vector<EntryFormat> read_formats(ByteReader& reader) {
    std::vector<EntryFormat> formats(reader.u8());
    for (EntryFormat& format : formats) {
        format.content = reader.uleb128();
        format.value.form = static_cast<std::uint16_t>(reader.uleb128());
    }
    return formats;
}

}  // namespace

std::optional<LineTable> LineTable::read(const Unit& unit) {
    if (!unit.stmt_list) return std::nullopt;
    Section& section = unit.address_file->sections.line;
    LineTable table;
    table.unit_ = &unit;
    const std::uint64_t offset = *unit.stmt_list;
    const std::uint64_t word = section.number(offset, 4);
    const bool is_64_bit = word == kDwarf64;
    const std::uint64_t length = is_64_bit ? section.number(offset + 4, 8) : word;
    table.header_.encoding.offset_bytes = is_64_bit ? 8 : 4;
    const std::uint64_t start = offset + (is_64_bit ? 12 : 4);
    if (start < offset || !table.read_header(section.view(start, length))) return std::nullopt;
    return table;
}

bool LineTable::read_header(std::span<const std::byte> bytes) {
    ByteReader reader(bytes);
    Encoding& encoding = header_.encoding;
    encoding.version = reader.u16();
    encoding.address_bytes = unit_->header.encoding.address_bytes;
    if (encoding.version < 2 || encoding.version > 5) return false;
    if (encoding.version >= 5) reader.skip(2);  // sizes of addresses and of segment selectors
    const std::uint64_t header_bytes = read_sized(reader, encoding.offset_bytes);
    const std::size_t program = reader.position() + header_bytes;
    if (header_bytes > reader.remaining()) return false;
    header_.min_instruction_bytes = reader.u8();
    if (encoding.version >= 4) reader.skip(1);  // operations in an instruction: 1 but for VLIW
    reader.skip(1);                             // whether rows are statements at first
    header_.line_base = static_cast<std::int8_t>(reader.u8());
    header_.line_range = reader.u8();
    header_.opcode_base = reader.u8();
    for (unsigned opcode = 1; opcode < header_.opcode_base; ++opcode) {
        header_.operand_counts[opcode] = reader.u8();
    }
    if (!reader.ok() || header_.line_range == 0 || header_.opcode_base == 0) return false;
    read_names(reader);
    program_ = bytes.subspan(program);
    return true;
}

void LineTable::read_names(ByteReader& reader) {
    if (header_.encoding.version >= 5) {
        if (read_entries(reader, directories_)) read_entries(reader, files_);
        return;
    }
    // DWARF 4 section 6.2.4: directories and files count from 1; 0 is the unit's directory.
    directories_.emplace_back();
    while (reader.ok() && directories_.size() < kMaxFiles) {
        const std::string_view name = reader.c_string();
        if (name.empty()) break;
        directories_.push_back({{name, kFormString, 0}, 0});
    }
    files_.emplace_back();
    while (reader.ok() && files_.size() < kMaxFiles) {
        const std::string_view name = reader.c_string();
        if (name.empty()) break;
        files_.push_back({{name, kFormString, 0}, reader.uleb128()});
        reader.uleb128();  // time
        reader.uleb128();  // size
    }
}

void LineTable::read_value(ByteReader& reader, std::uint64_t content, const Attribute& value,
                           File& file) const {
    if (content == kLnctDirectoryIndex) {
        file.directory = read_raw(reader, value, header_.encoding);
    } else if (content != kLnctPath) {
        skip_form(reader, value.form, header_.encoding);
    } else if (value.form == kFormString) {
        file.name = {reader.c_string(), value.form, 0};
    } else {
        file.name = {{}, value.form, read_raw(reader, value, header_.encoding)};
    }
}

bool LineTable::read_entries(ByteReader& reader, std::vector<File>& entries) const {
    const std::vector<EntryFormat> formats = read_formats(reader);
    const std::uint64_t count = reader.uleb128();
    if (formats.empty() || formats.size() > kMaxFormats) return count == 0;
    for (std::uint64_t i = 0; i < count && i < kMaxFiles && !reader.at_end(); ++i) {
        File& file = entries.emplace_back();
        for (const EntryFormat& format : formats) {
            read_value(reader, format.content, format.value, file);
        }
    }
    return reader.ok();
}

std::string LineTable::text_of(const Text& text) const {
    if (text.form == kFormString) return std::string(text.inlined);
    if (text.form == 0) return {};
    return std::string(string_of(*unit_, text.form, text.raw));
}

// Version 5 has the unit's directory as directory 0; before, a relative one lies below it.
std::string LineTable::path_of(std::uint64_t file) const {
    if (file >= files_.size()) return {};
    std::string name = text_of(files_[file].name);
    if (name.empty() || name.front() == '/') return name;
    const std::uint64_t index = files_[file].directory;
    std::string directory;
    if (index < directories_.size()) directory = text_of(directories_[index].name);
    const bool is_complete = header_.encoding.version >= 5 && index == 0;
    if (!is_complete && !directory.starts_with('/') && !unit_->comp_dir.empty()) {
        directory = directory.empty() ? unit_->comp_dir : unit_->comp_dir + '/' + directory;
    }
    return directory.empty() ? name : directory + '/' + name;
}

std::vector<LineRow> LineTable::find_rows(std::span<const std::uint64_t> vaddrs,
                                          Budget& budget) const {
    return LineProgram(header_, vaddrs).run(program_, budget);
}

}  // namespace bobbin::dwarf

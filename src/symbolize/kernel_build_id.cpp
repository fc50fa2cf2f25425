// SPDX-License-Identifier: Apache-2.0
#include "symbolize/kernel_build_id.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>

#include "base/byte_reader.h"
#include "elf/elf_file.h"

namespace bobbin::symbolize {
namespace {

// /sys/kernel/notes of a 6.1 kernel has 164 bytes.
constexpr std::size_t kMaxNotesBytes = 65536;
constexpr std::string_view kOwner{"GNU\0", 4};

std::uint64_t padded(std::uint32_t size) { return (std::uint64_t{size} + 3) & ~std::uint64_t{3}; }

// A module's name becomes part of a path.
bool is_plain_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    });
}

}  // namespace

std::string find_build_id(std::span<const std::byte> notes) {
    ByteReader reader(notes);
    while (!reader.at_end()) {
        const std::uint32_t owner_size = reader.u32();
        const std::uint32_t content_size = reader.u32();
        const std::uint32_t type = reader.u32();
        const auto owner = reader.bytes(padded(owner_size));
        const auto content = reader.bytes(padded(content_size));
        if (!reader.ok()) return {};
        const std::string_view owner_text(reinterpret_cast<const char*>(owner.data()),
                                          std::min<std::size_t>(owner.size(), owner_size));
        if (type == NT_GNU_BUILD_ID && owner_text == kOwner) {
            return elf::to_hex(content.first(content_size));
        }
    }
    return {};
}

std::string kernel_build_id(const std::string& module, const std::string& sysfs) {
    std::string path = sysfs + "/kernel/notes";
    if (!module.empty()) {
        const std::string name = module.size() > 2 ? module.substr(1, module.size() - 2) : "";
        if (!is_plain_name(name)) return {};
        path = sysfs + "/module/" + name + "/notes/.note.gnu.build-id";
    }
    std::ifstream file(path, std::ios::binary);
    std::array<char, kMaxNotesBytes> bytes{};
    file.read(bytes.data(), bytes.size());
    const auto size = static_cast<std::size_t>(file.gcount());
    return find_build_id(std::as_bytes(std::span(bytes).first(size)));
}

}  // namespace bobbin::symbolize

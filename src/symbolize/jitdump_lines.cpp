// SPDX-License-Identifier: Apache-2.0
#include "symbolize/jitdump_lines.h"

#include <algorithm>
#include <optional>

#include "base/byte_reader.h"

namespace bobbin::symbolize {
namespace {

// "The same file as in the entry before", which perf's own agent for the JVM writes.
constexpr std::string_view kSameFile = "\xff";

// PATH_MAX. A record may hold 16 MiB, and each address asked for gets a copy.
constexpr std::size_t kMaxFileNameBytes = 4096;

// The entry that counts at the first address at or above it.
struct LineSlot {
    bool is_set = false;
    std::uint64_t entry_vaddr = 0;
    JitdumpLine line;
};

struct LineEntry {
    std::uint64_t vaddr = 0;
    JitdumpLine line;
};

bool is_file_name(std::string_view name) {
    return std::ranges::none_of(name, [](char c) { return c >= 0 && c < ' '; });
}

class LineEntryReader {
public:
    explicit LineEntryReader(const JitdumpLineTable& table)
        : table_(table), reader_(table.entries) {}

    // nullopt: it cannot be one.
    std::optional<LineEntry> next() {
        const std::uint64_t vaddr = reader_.u64() - table_.bias;
        const std::uint32_t line = reader_.u32();
        reader_.skip(4);  // the column
        const std::string_view name = reader_.c_string();
        const bool is_in_code = vaddr - table_.code_vaddr <= table_.code_size_bytes;
        if (!reader_.ok() || !is_in_code || !is_file_name(name)) return std::nullopt;
        if (name != kSameFile) file_ = name.substr(0, kMaxFileNameBytes);
        return LineEntry{.vaddr = vaddr, .line = {.file = file_, .line = line}};
    }

private:
    const JitdumpLineTable& table_;
    ByteReader reader_;
    std::string_view file_;
};

}  // namespace

std::vector<JitdumpLine> find_jitdump_lines(const JitdumpLineTable& table,
                                            std::span<const std::uint64_t> addresses) {
    std::vector<LineSlot> slots(addresses.size());
    LineEntryReader reader(table);
    for (std::uint64_t i = 0; i < table.entry_count; ++i) {
        const auto entry = reader.next();
        if (!entry) return std::vector<JitdumpLine>(addresses.size());
        const auto at = std::lower_bound(addresses.begin(), addresses.end(), entry->vaddr);
        if (at == addresses.end()) continue;
        LineSlot& slot = slots[static_cast<std::size_t>(at - addresses.begin())];
        if (slot.is_set && entry->vaddr < slot.entry_vaddr) continue;
        slot = {.is_set = true, .entry_vaddr = entry->vaddr, .line = entry->line};
    }
    std::vector<JitdumpLine> lines(addresses.size());
    JitdumpLine latest;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].is_set) latest = slots[i].line;
        lines[i] = latest;
    }
    return lines;
}

}  // namespace bobbin::symbolize

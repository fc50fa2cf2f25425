// SPDX-License-Identifier: Apache-2.0
#include "symbolize/jitdump.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/byte_reader.h"
#include "symbolize/jitdump_lines.h"
#include "symbolize/latest_cover.h"

namespace bobbin::symbolize {
namespace {

constexpr std::uint32_t kJitdumpMagic = 0x4A695444;  // "JiTD", whose first byte is the highest
constexpr std::uint32_t kSwappedJitdumpMagic = 0x4454694A;
constexpr std::uint32_t kJitdumpVersion = 1;
constexpr std::uint32_t kHeaderBytes = 40;
constexpr std::uint32_t kMaxHeaderBytes = 4096;
constexpr std::uint32_t kPrefixBytes = 16;
constexpr std::uint32_t kLoadBytes = 40;  // behind the prefix, up to the name
constexpr std::uint32_t kMoveBytes = 48;
constexpr std::uint32_t kDebugInfoBytes = 16;

// V8 leaves this in the header's padding, and adds to the addresses of its lines what `perf inject`
// puts before the code: an ELF header (perf-jit.cc, "Adjust the position addresses accordingly").
constexpr std::uint32_t kPaddingOfV8 = 0xDEADBEEF;
constexpr std::uint64_t kLineBiasOfV8 = 64;

constexpr std::size_t kMaxCodeNameBytes = 4096;
constexpr std::size_t kMaxMovedFunctions = 65'536;
// Lines of one function, and of all that were asked for.
constexpr std::uint64_t kMaxDebugInfoBytes = 16ULL << 20;
constexpr std::uint64_t kMaxAllDebugInfoBytes = 256ULL << 20;

enum class RecordKind : std::uint32_t { kLoad = 0, kMove = 1, kDebugInfo = 2, kClose = 3 };

struct Record {
    std::uint32_t kind = 0;
    std::uint64_t offset = 0;  // of what follows the prefix
    std::uint64_t size_bytes = 0;
};

struct DebugInfo {
    std::uint64_t code_vaddr = 0;
    std::uint64_t entry_count = 0;
    std::uint64_t offset = 0;  // of the entries
    std::uint64_t size_bytes = 0;
};

struct GeneratedFunction {
    std::string name;
    std::uint64_t loaded_vaddr = 0;  // what the addresses of its lines start from
    std::uint64_t start_vaddr = 0;   // where it is, perhaps moved
    std::uint64_t size_bytes = 0;
    std::optional<DebugInfo> debug_info;
};

// Bytes of a file that is read from front to back, with gaps.
class Window {
public:
    explicit Window(const ByteSource& file) : file_(file) {}

    // As many of [offset, +count) as there are; `count` is at most kWindowBytes.
    std::span<const std::byte> at(std::uint64_t offset, std::size_t count) {
        if (offset >= file_.size_bytes) return {};
        const bool is_inside = offset >= start_ && offset - start_ <= bytes_.size() &&
                               count <= bytes_.size() - (offset - start_);
        if (!is_inside) fill(offset);
        const auto from = std::span(bytes_).subspan(static_cast<std::size_t>(offset - start_));
        return from.first(std::min(count, from.size()));
    }

private:
    static constexpr std::uint64_t kWindowBytes = 64 << 10;

    void fill(std::uint64_t offset) {
        start_ = offset;
        bytes_.resize(static_cast<std::size_t>(std::min(kWindowBytes, file_.size_bytes - offset)));
        bytes_.resize(file_.read(offset, bytes_));
    }

    const ByteSource& file_;
    std::uint64_t start_ = 0;
    std::vector<std::byte> bytes_;
};

class JitdumpReader {
public:
    JitdumpReader(const ByteSource& file, std::span<const std::uint64_t> addresses)
        : file_(file), addresses_(addresses), window_(file), functions_(addresses) {}

    Result<> read_header();
    // Code that was moved is known by the number it had when it was loaded. Which numbers are
    // needed is known after the first walk only; mostly there are none.
    void read_records() {
        walk();
        if (moved_.empty()) return;
        functions_ = LatestCover<GeneratedFunction>(addresses_);
        walk();
    }
    std::vector<NamedFrame> frames();

private:
    void walk();
    std::optional<Record> record_at(std::uint64_t offset);
    void add_load(const Record& record);
    void add_move(const Record& record);
    void note_debug_info(const Record& record);
    std::string name_at(std::uint64_t offset, std::uint64_t size_bytes);
    void add_lines(const GeneratedFunction& function, std::span<const std::size_t> indexes,
                   std::vector<NamedFrame>& frames);

    const ByteSource& file_;
    std::span<const std::uint64_t> addresses_;
    Window window_;
    LatestCover<GeneratedFunction> functions_;
    std::uint64_t first_record_ = 0;
    std::uint64_t line_bias_ = 0;
    std::optional<DebugInfo> debug_info_;  // comes before the code that it is about
    // By code_index, those that moved to where somebody asks; empty until they are loaded.
    std::unordered_map<std::uint64_t, std::optional<GeneratedFunction>> moved_;
    std::uint64_t debug_info_bytes_ = 0;
};

Result<> JitdumpReader::read_header() {
    ByteReader reader(window_.at(0, kHeaderBytes));
    const std::uint32_t magic = reader.u32();
    const std::uint32_t version = reader.u32();
    first_record_ = reader.u32();
    reader.skip(4);  // ELF machine
    const std::uint32_t padding = reader.u32();
    reader.skip(20);  // pid, time, flags
    if (magic == kSwappedJitdumpMagic)
        return fail("a jitdump of a machine with another byte order");
    if (!reader.ok() || magic != kJitdumpMagic) return fail("not a jitdump");
    if (version != kJitdumpVersion) return fail("a jitdump of version {}", version);
    if (first_record_ < kHeaderBytes || first_record_ > kMaxHeaderBytes) {
        return fail("a jitdump whose header has {} bytes", first_record_);
    }
    line_bias_ = padding == kPaddingOfV8 ? kLineBiasOfV8 : 0;
    return {};
}

std::optional<Record> JitdumpReader::record_at(std::uint64_t offset) {
    ByteReader reader(window_.at(offset, kPrefixBytes));
    const std::uint32_t kind = reader.u32();
    const std::uint32_t size = reader.u32();
    reader.skip(8);  // the time
    if (!reader.ok() || size < kPrefixBytes || size > file_.size_bytes - offset) {
        return std::nullopt;
    }
    return Record{.kind = kind, .offset = offset + kPrefixBytes, .size_bytes = size - kPrefixBytes};
}

// Records that nobody knows have a size, too.
void JitdumpReader::walk() {
    debug_info_.reset();
    const std::uint64_t end = std::min(file_.size_bytes, kMaxJitdumpBytes);
    for (std::uint64_t offset = first_record_; offset < end;) {
        const auto record = record_at(offset);
        if (!record) return;
        switch (static_cast<RecordKind>(record->kind)) {
            case RecordKind::kLoad:
                add_load(*record);
                break;
            case RecordKind::kMove:
                add_move(*record);
                break;
            case RecordKind::kDebugInfo:
                note_debug_info(*record);
                break;
            case RecordKind::kClose:
                return;
        }
        offset = record->offset + record->size_bytes;
    }
}

void JitdumpReader::add_load(const Record& record) {
    const auto debug_info = std::exchange(debug_info_, std::nullopt);
    if (record.size_bytes < kLoadBytes) return;
    ByteReader reader(window_.at(record.offset, kLoadBytes));
    reader.skip(16);  // pid, tid, and an address that is the next one's
    const std::uint64_t vaddr = reader.u64();
    const std::uint64_t size = reader.u64();
    const std::uint64_t code_index = reader.u64();
    if (!reader.ok() || size > UINT64_MAX - vaddr) return;
    const auto range = functions_.indexes_in(vaddr, size);
    const auto moved = moved_.find(code_index);
    if (range.empty() && moved == moved_.end()) return;
    GeneratedFunction function{
        .name = name_at(record.offset + kLoadBytes, record.size_bytes - kLoadBytes),
        .loaded_vaddr = vaddr,
        .start_vaddr = vaddr,
        .size_bytes = size,
        .debug_info = std::nullopt};
    if (debug_info && debug_info->code_vaddr == vaddr) function.debug_info = debug_info;
    if (moved != moved_.end()) moved->second = function;
    if (!range.empty()) functions_.put(range, std::move(function));
}

void JitdumpReader::add_move(const Record& record) {
    if (record.size_bytes < kMoveBytes) return;
    ByteReader reader(window_.at(record.offset, kMoveBytes));
    reader.skip(24);  // pid, tid, an address that is the next but one's, the old address
    const std::uint64_t vaddr = reader.u64();
    const std::uint64_t size = reader.u64();
    const std::uint64_t code_index = reader.u64();
    if (!reader.ok() || size > UINT64_MAX - vaddr) return;
    const auto range = functions_.indexes_in(vaddr, size);
    if (range.empty()) return;
    const auto moved = moved_.find(code_index);
    if (moved == moved_.end()) {
        if (moved_.size() < kMaxMovedFunctions) moved_.emplace(code_index, std::nullopt);
    } else if (moved->second) {
        GeneratedFunction function = *moved->second;
        function.start_vaddr = vaddr;
        functions_.put(range, std::move(function));
    }
}

void JitdumpReader::note_debug_info(const Record& record) {
    debug_info_.reset();
    if (record.size_bytes < kDebugInfoBytes) return;
    ByteReader reader(window_.at(record.offset, kDebugInfoBytes));
    const std::uint64_t code_vaddr = reader.u64();
    const std::uint64_t entry_count = reader.u64();
    if (!reader.ok()) return;
    debug_info_ = DebugInfo{.code_vaddr = code_vaddr,
                            .entry_count = entry_count,
                            .offset = record.offset + kDebugInfoBytes,
                            .size_bytes = record.size_bytes - kDebugInfoBytes};
}

// Behind the name's end lies the code. A name without an end is cut.
std::string JitdumpReader::name_at(std::uint64_t offset, std::uint64_t size_bytes) {
    const auto bytes = window_.at(
        offset, static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes, kMaxCodeNameBytes)));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return std::string(text.substr(0, text.find('\0')));
}

void JitdumpReader::add_lines(const GeneratedFunction& function,
                              std::span<const std::size_t> indexes,
                              std::vector<NamedFrame>& frames) {
    if (!function.debug_info || function.debug_info->size_bytes > kMaxDebugInfoBytes) return;
    debug_info_bytes_ += function.debug_info->size_bytes;
    if (debug_info_bytes_ > kMaxAllDebugInfoBytes) return;
    std::vector<std::byte> entries(static_cast<std::size_t>(function.debug_info->size_bytes));
    entries.resize(file_.read(function.debug_info->offset, entries));
    std::vector<std::uint64_t> addresses;
    for (const std::size_t index : indexes) {
        addresses.push_back(addresses_[index] - function.start_vaddr + function.loaded_vaddr);
    }
    const auto lines = find_jitdump_lines({.entries = entries,
                                           .entry_count = function.debug_info->entry_count,
                                           .bias = line_bias_,
                                           .code_vaddr = function.loaded_vaddr,
                                           .code_size_bytes = function.size_bytes},
                                          addresses);
    for (std::size_t i = 0; i < indexes.size(); ++i) {
        frames[indexes[i]].file = lines[i].file;
        frames[indexes[i]].line = lines[i].line;
    }
}

std::vector<NamedFrame> JitdumpReader::frames() {
    std::vector<NamedFrame> frames(addresses_.size());
    std::map<std::shared_ptr<const GeneratedFunction>, std::vector<std::size_t>> indexes_of;
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
        const auto function = functions_.at(i);
        if (!function) continue;
        frames[i].system_name = function->name;
        indexes_of[function].push_back(i);
    }
    for (const auto& [function, indexes] : indexes_of) add_lines(*function, indexes, frames);
    return frames;
}

}  // namespace

Result<std::vector<NamedFrame>> read_jitdump(const ByteSource& file,
                                             std::span<const std::uint64_t> addresses) {
    JitdumpReader reader(file, addresses);
    BOBBIN_CHECK(reader.read_header());
    reader.read_records();
    return reader.frames();
}

}  // namespace bobbin::symbolize

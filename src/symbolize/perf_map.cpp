// SPDX-License-Identifier: Apache-2.0
#include "symbolize/perf_map.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/parse_number.h"
#include "symbolize/latest_cover.h"

namespace bobbin::symbolize {
namespace {

constexpr std::size_t kTextPieceBytes = 256 << 10;

struct PerfMapLine {
    std::uint64_t start = 0;
    std::uint64_t size = 0;
    std::string_view name;
};

std::optional<std::uint64_t> take_hex_word(std::string_view& text) {
    if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
    const auto number = take_number<std::uint64_t>(text, 16);
    if (!text.starts_with(' ')) return std::nullopt;
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return number;
}

std::optional<PerfMapLine> parse_perf_map_line(std::string_view text) {
    const auto start = take_hex_word(text);
    const auto size = start ? take_hex_word(text) : std::nullopt;
    if (!size || text.empty() || *size > UINT64_MAX - *start) return std::nullopt;
    return PerfMapLine{.start = *start, .size = *size, .name = text};
}

class PerfMapReader {
public:
    explicit PerfMapReader(std::span<const std::uint64_t> addresses)
        : names_(addresses), address_count_(addresses.size()) {}

    // What follows what was added before.
    void add(std::string_view text) {
        for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
            if (begun_line_.empty()) {
                add_line(text.substr(0, std::min(end, kMaxPerfMapLineBytes)));
            } else {
                begin_line(text.substr(0, end));
                add_line(begun_line_);
                begun_line_.clear();
            }
            text.remove_prefix(end + 1);
        }
        begin_line(text);
    }

    // A last line without its end counts, too: not every writer ends it.
    PerfMapNames finish() {
        if (!begun_line_.empty()) add_line(begun_line_);
        PerfMapNames result;
        result.malformed_line_count = malformed_line_count_;
        result.names.resize(address_count_);
        for (std::size_t i = 0; i < address_count_; ++i) {
            if (const auto name = names_.at(i)) result.names[i] = *name;
        }
        return result;
    }

private:
    void begin_line(std::string_view text) {
        begun_line_ += text.substr(0, kMaxPerfMapLineBytes - begun_line_.size());
    }

    void add_line(std::string_view text) {
        const auto line = parse_perf_map_line(text);
        if (!line) {
            ++malformed_line_count_;
            return;
        }
        const auto range = names_.indexes_in(line->start, line->size);
        if (!range.empty()) names_.put(range, std::string(line->name));
    }

    LatestCover<std::string> names_;
    std::size_t address_count_;
    std::string begun_line_;  // at most kMaxPerfMapLineBytes
    std::uint64_t malformed_line_count_ = 0;
};

// Drops the rest of a line whose beginning was not read; false: it ends further on.
bool drop_rest_of_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return end != std::string_view::npos;
}

}  // namespace

PerfMapNames read_perf_map(const ByteSource& file, std::span<const std::uint64_t> addresses) {
    PerfMapReader reader(addresses);
    std::uint64_t offset = file.size_bytes - std::min(file.size_bytes, kMaxPerfMapBytes);
    bool is_inside_line = offset > 0;
    std::vector<std::byte> piece(
        static_cast<std::size_t>(std::min<std::uint64_t>(file.size_bytes, kTextPieceBytes)));
    while (offset < file.size_bytes) {
        const std::uint64_t wanted =
            std::min<std::uint64_t>(piece.size(), file.size_bytes - offset);
        const std::size_t count =
            file.read(offset, std::span(piece).first(static_cast<std::size_t>(wanted)));
        std::string_view text(reinterpret_cast<const char*>(piece.data()), count);
        if (is_inside_line) is_inside_line = !drop_rest_of_line(text);
        reader.add(text);
        if (count < wanted) break;
        offset += count;
    }
    return reader.finish();
}

}  // namespace bobbin::symbolize

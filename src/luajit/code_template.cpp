// SPDX-License-Identifier: Apache-2.0
#include "luajit/code_template.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>

namespace bobbin::luajit {
namespace {

constexpr std::size_t kNoMatch = ~std::size_t{0};

// Cuts the first word off.
std::string_view take_word(std::string_view& text) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    text.remove_prefix(end);
    return word;
}

std::byte parse_byte(std::string_view word) {
    std::uint8_t value = 0;
    const auto [end, error] =
        std::from_chars(word.data(), word.data() + word.size(), value, /*base=*/16);
    assert(error == std::errc{} && end == word.data() + 2 && "a template has a wrong word");
    (void)end;
    (void)error;
    return std::byte{value};
}

std::int32_t read_value(std::span<const std::byte> bytes) {
    if (bytes.size() == 1) return static_cast<std::int8_t>(bytes.front());
    std::int32_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
}

}  // namespace

CodeMatcher::CodeMatcher(const CodeTemplate& code_template, BuildKind kind) {
    for (const Instruction& instruction : code_template.instructions) {
        add(instruction.text(kind.is_gc64), kind);
    }
    note_first_bytes();
}

void CodeMatcher::add(std::string_view instruction, BuildKind kind) {
    Step step{.place = {}, .optional = false, .first_part = parts_.size(), .end_part = 0};
    for (std::string_view word = take_word(instruction); !word.empty();
         word = take_word(instruction)) {
        const std::size_t colon = word.find(':');
        if (word == "-" || (word == "six" && !kind.saves_six_registers)) return;
        if (word == "six") continue;
        if (word == "?") {
            step.optional = true;
        } else if (word.front() == '@') {
            step.place = word.substr(1);
        } else if (colon != std::string_view::npos) {
            assert((word.substr(colon) == ":1" || word.substr(colon) == ":4") &&
                   "a value has one byte or four");
            const std::uint8_t size = word.back() == '4' ? 4 : 1;
            parts_.push_back({.name = word.substr(0, colon), .size_bytes = size});
        } else if (word == "..") {
            parts_.push_back({.any = true});
        } else {
            parts_.push_back({.byte = parse_byte(word)});
        }
    }
    step.end_part = parts_.size();
    steps_.push_back(step);
}

// Those of the first instruction and, while those may be missing, of the next.
void CodeMatcher::note_first_bytes() {
    for (const Step& step : steps_) {
        if (step.first_part == step.end_part) continue;
        const Part& part = parts_[step.first_part];
        assert(part.name.empty() && !part.any && "a template begins with a byte");
        may_begin_[std::to_integer<std::size_t>(part.byte)] = true;
        if (!step.optional) return;
    }
}

// Where the instruction ends, if it stands at `at`.
std::size_t CodeMatcher::end_of(const Step& step, std::span<const std::byte> code,
                                std::size_t at) const {
    for (std::size_t i = step.first_part; i < step.end_part; ++i) {
        const Part& part = parts_[i];
        if (part.size_bytes > code.size() - at) return kNoMatch;
        if (part.name.empty() && !part.any && code[at] != part.byte) return kNoMatch;
        at += part.size_bytes;
    }
    return at;
}

// The instruction stands where the match so far ends.
void CodeMatcher::take_values(const Step& step, std::span<const std::byte> code,
                              CodeMatch& match) const {
    std::size_t at = match.end;
    for (std::size_t i = step.first_part; i < step.end_part; ++i) {
        const Part& part = parts_[i];
        if (!part.name.empty()) {
            match.values.emplace_back(part.name, read_value(code.subspan(at, part.size_bytes)));
        }
        at += part.size_bytes;
    }
    if (!step.place.empty()) match.places.emplace_back(step.place, match.end);
}

std::optional<CodeMatch> CodeMatcher::match_at(std::span<const std::byte> code,
                                               std::size_t begin) const {
    std::size_t end = begin;
    for (const Step& step : steps_) {
        const std::size_t next = end_of(step, code, end);
        if (next == kNoMatch && !step.optional) return std::nullopt;
        if (next != kNoMatch) end = next;
    }
    CodeMatch match{.begin = begin, .end = begin, .values = {}, .places = {}};
    for (const Step& step : steps_) {
        const std::size_t next = end_of(step, code, match.end);
        if (next == kNoMatch) continue;
        take_values(step, code, match);
        match.end = next;
    }
    return match;
}

std::vector<CodeMatch> CodeMatcher::find(std::span<const std::byte> code,
                                         std::size_t max_count) const {
    std::vector<CodeMatch> matches;
    for (std::size_t at = 0; at < code.size() && matches.size() < max_count; ++at) {
        if (!may_begin_[std::to_integer<std::size_t>(code[at])]) continue;
        std::optional<CodeMatch> match = match_at(code, at);
        if (!match) continue;
        at = match->end - 1;
        matches.push_back(std::move(*match));
    }
    return matches;
}

}  // namespace bobbin::luajit

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace bobbin::luajit {

// The ways to build a VM that its templates differ by.
struct BuildKind {
    bool is_gc64 = false;
    bool saves_six_registers = false;
};

// One instruction as bytes, first as a VM with 64-bit references has it (LJ_GC64), then as one with
// 32-bit references, if that differs. Words:
//   48        this byte
//   ..        any byte
//   name:1    a displacement or immediate that is wanted, signed; name:4 likewise
//   @name     its address is wanted; without bytes: the address of what follows
//   ?         it may be missing
//   six       it is there in builds that save six registers
//   -         it is not there
struct Instruction {
    std::string_view gc64;
    std::string_view gc32;

    [[nodiscard]] std::string_view text(bool is_gc64) const {
        return is_gc64 || gc32.empty() ? gc64 : gc32;
    }
};

// How often a template must be found for its values to be believed.
enum class Hits : std::uint8_t {
    kOne,
    kOneOrNone,  // what it describes can be left out of a build
    kFirst,      // the lowest of several
    kAny,        // once or more often, with the same values each time
};

struct CodeTemplate {
    std::string_view name;  // of the function or instruction handler it is found in
    std::span<const Instruction> instructions;
    Hits hits = Hits::kOne;
};

struct CodeMatch {
    std::size_t begin = 0;  // in the code
    std::size_t end = 0;
    std::vector<std::pair<std::string_view, std::int32_t>> values;
    std::vector<std::pair<std::string_view, std::size_t>> places;  // in the code
};

// A template made ready for a search. There is no going back: an instruction that may be missing is
// taken where its bytes stand.
class CodeMatcher {
public:
    CodeMatcher(const CodeTemplate& code_template, BuildKind kind);

    // Whether it stands at `begin`.
    [[nodiscard]] std::optional<CodeMatch> match_at(std::span<const std::byte> code,
                                                    std::size_t begin) const;
    // The first `max_count`, by rising address and apart from each other.
    [[nodiscard]] std::vector<CodeMatch> find(std::span<const std::byte> code,
                                              std::size_t max_count) const;

private:
    struct Part {
        std::string_view name;        // of a value; else empty
        std::uint8_t size_bytes = 1;  // of a value: 1 or 4
        bool any = false;
        std::byte byte{};
    };
    struct Step {  // an instruction
        std::string_view place;
        bool optional = false;
        std::size_t first_part = 0;
        std::size_t end_part = 0;
    };

    void add(std::string_view instruction, BuildKind kind);
    void note_first_bytes();
    [[nodiscard]] std::size_t end_of(const Step& step, std::span<const std::byte> code,
                                     std::size_t at) const;
    void take_values(const Step& step, std::span<const std::byte> code, CodeMatch& match) const;

    std::vector<Part> parts_;
    std::vector<Step> steps_;
    std::array<bool, 256> may_begin_{};  // by first byte: most of the code is passed over by that
};

}  // namespace bobbin::luajit

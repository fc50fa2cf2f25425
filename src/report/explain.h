// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bobbin/bpf_abi.h"
#include "symbolize/named_profile.h"

namespace bobbin::report {

// Who makes code at run time: told by the files that its stacks come through, else by the name of
// the process.
enum class Runtime { kNone, kNode, kJava, kPython, kDotnet, kLuajit, kPhp };
std::string_view name_of(Runtime runtime);  // "node"

// A walk that was not asked for, or that had no user stack to walk, left nothing out.
bool is_complete(abi::walk_end end);
std::string_view text_of(abi::walk_end end);

// What became of the frames of one module, each counted as often as it was sampled. One frame is
// one place in code: inlined functions are not frames of their own.
struct ModuleFacts {
    std::string module;  // path, "[kernel]", "[anon]", ...; kNoUserFrame
    std::string build_id;
    Runtime runtime = Runtime::kNone;  // of generated code, which has facts for each
    bool is_kernel = false;
    std::uint64_t frames = 0;
    // Of those, the ones whose caller was found by a frame pointer: their code states no CFI.
    std::uint64_t left_by_frame_pointer = 0;
    std::uint64_t named = 0;
    std::uint64_t with_lines = 0;
    std::uint64_t with_inlined = 0;  // frames in which functions were inlined
    // Stacks that end here and should not; a stack that ends in the kernel or before its first
    // frame is kNoUserFrame's.
    std::array<std::uint64_t, abi::WALK_END_COUNT> early_ends{};

    [[nodiscard]] std::uint64_t ended_early() const;
};
inline constexpr std::string_view kNoUserFrame = "[no user frame]";

struct Explanation {
    std::uint64_t sample_count = 0;
    std::array<std::uint64_t, abi::WALK_END_COUNT> by_walk_end{};
    std::uint64_t frame_count = 0;
    std::uint64_t named_frame_count = 0;
    std::uint64_t frame_count_with_lines = 0;
    std::vector<ModuleFacts> modules;  // most frames first
};

Explanation explain(const symbolize::NamedProfile& profile);

// One thing that is missing, of one module.
struct Problem {
    enum class Kind {
        kStacks,  // stacks that end early for the reason `end`
        kNames,
        kLines,  // of frames that have names
    };
    Kind kind = Kind::kStacks;
    abi::walk_end end = abi::WALK_END_BOTTOM;
    std::size_t module = 0;  // index in Explanation::modules
    double share = 0;        // kStacks: of all samples; else of all frames
};
// Largest share first.
std::vector<Problem> problems_of(const Explanation& explanation);

}  // namespace bobbin::report

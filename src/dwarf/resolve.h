// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dwarf/budget.h"
#include "dwarf/debug_file.h"
#include "dwarf/function_walk.h"
#include "dwarf/string_pool.h"
#include "dwarf/unit.h"

namespace bobbin::dwarf {

// One function at an address. Numbers are of Resolution::strings; 0: not known.
struct Frame {
    std::uint32_t function = 0;  // linkage name, or name with its scopes
    std::uint32_t file = 0;
    std::uint32_t line = 0;
};

struct Resolution {
    struct Span {
        std::uint32_t first_frame = 0;
        std::uint32_t frame_count = 0;
    };
    std::vector<Frame> frames;
    // For each query its frames, the innermost inlined function first, the function itself last;
    // none where the file does not know the address.
    std::vector<Span> spans;
    StringPool strings;

    // What could not be had.
    std::size_t missing_split_units = 0;
    bool is_out_of_time = false;
};

struct ResolveOptions {
    // Two thirds of the way to the deadline inlined functions are left out for what is still to do,
    // at the deadline lines, too. Units with the most addresses come first, but for what is
    // unpacked from front to back.
    Budget::Clock::time_point start = Budget::Clock::now();
    Budget::Clock::time_point deadline = Budget::Clock::time_point::max();
    bool wants_inlined_calls = true;
    // Whether any Query::symbol_vaddr is known. Where none covers an address between functions, no
    // second look is taken for one inside of a function's class.
    bool has_symbols = true;
    // Opens the .dwo file that a skeleton names; nullptr: it is not there.
    std::function<std::shared_ptr<DebugFile>(const Unit& skeleton)> open_split_file;
    std::shared_ptr<DebugFile> package;  // .dwp
};

// Functions, files and lines at addresses of one file, in one batch, unit by unit: each unit is
// looked at once, and no more of it is kept than the answers. `queries` ascend by vaddr.
Resolution resolve(DebugFile& file, std::span<const Query> queries, const ResolveOptions& options);

}  // namespace bobbin::dwarf

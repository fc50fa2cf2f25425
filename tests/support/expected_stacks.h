// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/stacks.h"

namespace bobbin::test {

// What one frame may be called. `names` are prefixes up to a parameter list: "chain_25" matches
// "chain_25" and "chain_25(unsigned long)", and a symbol's version is not looked at. Debian's libc
// has no local symbols without libc6-dbg, so a frame may also be "MODULE+0x123" if
// `module_when_unnamed` says which module.
struct ExpectedFrame {
    std::vector<std::string> names;
    std::string module_when_unnamed;
};
using ExpectedStack = std::vector<ExpectedFrame>;  // leaf first

ExpectedFrame named(std::string name);
ExpectedFrame unnamed_in(std::string module);
bool matches(const Frame& frame, const ExpectedFrame& expected);
bool matches(const std::vector<Frame>& frames, const ExpectedStack& expected);
bool is_function(const Frame& frame, std::string_view name);

// chain_NN ... chain_01, as a sample with chain_NN innermost must see it (known_chain_links.h).
ExpectedStack chain_from(int innermost_link);
// NN if the function is chain_NN, else 0.
int chain_link_of(const Frame& frame);

// main, __libc_start_call_main, __libc_start_main, _start
ExpectedStack below_main();
// start_thread, clone3
ExpectedStack below_thread_function();
ExpectedStack operator+(ExpectedStack inner, const ExpectedStack& outer);

// Ends where threads and programs begin: `_start` of the program or of ld.so, or clone.
bool reaches_the_bottom(const Stack& stack);
bool reaches_main_and_bottom(const Stack& stack);

// How many samples were judged, and how many of these were as they had to be.
struct Verdict {
    std::uint64_t judged = 0;
    std::uint64_t right = 0;
    std::vector<Stack> wrong;

    [[nodiscard]] double share_right() const;
    [[nodiscard]] std::string examples() const;  // of what was wrong, most samples first
};

// Judges the samples for which `applies`.
Verdict judge(const std::vector<Stack>& stacks, const std::function<bool(const Stack&)>& applies,
              const std::function<bool(const Stack&)>& is_right);

}  // namespace bobbin::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "support/expected_stacks.h"

namespace bobbin::test {

// What the stacks of some fixtures look like; for the tests and for tests/bench/compare_chains.

// The handler and libc's return from it, as innermost frames (fixtures/signals.c).
ExpectedStack handler_on_signal_frame(const std::string& handler);
bool is_tiny_function(const Frame& frame);
// handle_timer on top of call_tiny_functions or of what that calls, libc's clock in it.
bool is_timer_in_tiny_functions(const Stack& stack);

// fixtures/exceptions.cpp: whatever the runtime does, it does it on top of 0 to 10 times fall; of
// all 10 while it looks for a handler, which is below __cxa_throw.
bool is_above_catch_thrown(const Stack& stack);

// fixtures/known_chain_rust.rs: chain_NN ... chain_01, Rust's frames down to catch_panic and from
// there to the C main.
bool is_rust_chain(const Stack& stack);

}  // namespace bobbin::test

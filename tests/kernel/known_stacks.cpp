// SPDX-License-Identifier: Apache-2.0
#include "kernel/known_stacks.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernel/sampled_fixture.h"

namespace bobbin::test {
namespace {

std::size_t count_of(const std::vector<Frame>& frames, const std::string& function) {
    return static_cast<std::size_t>(std::count_if(
        frames.begin(), frames.end(), [&](const Frame& f) { return is_function(f, function); }));
}

// gcc moves the throw into a part of its own.
bool is_fall(const Frame& frame) {
    return is_function(frame, "fall") || is_function(frame, "fall.cold");
}

bool is_unwinder_entry(const Frame& frame) {
    return is_function(frame, "_Unwind_RaiseException") || is_function(frame, "_Unwind_Resume");
}

}  // namespace

ExpectedStack handler_on_signal_frame(const std::string& handler) {
    return {named(handler), {{"__restore_rt", "__GI___restore_rt"}, "libc.so.6"}};
}

bool is_tiny_function(const Frame& frame) {
    return is_function(frame, "tiny_push") || is_function(frame, "tiny_frame");
}

bool is_timer_in_tiny_functions(const Stack& stack) {
    std::vector<Frame> frames = stack.user_frames();
    const ExpectedStack handler = handler_on_signal_frame("handle_timer");
    if (frames.size() < handler.size()) return false;
    const auto interrupted = frames.begin() + 2;
    if (!matches(std::vector<Frame>(frames.begin(), interrupted), handler)) return false;
    frames.erase(frames.begin(), interrupted);
    if (!frames.empty() && is_tiny_function(frames.front())) {
        frames.erase(frames.begin());
    } else {
        cut_leaf_frames_in(frames, "[vdso]");
        cut_leaf_frames_in(frames, "libc.so.6");
    }
    return matches(frames, ExpectedStack{named("call_tiny_functions")} + below_main());
}

bool is_above_catch_thrown(const Stack& stack) {
    std::vector<Frame> frames = stack.user_frames();
    const auto falls =
        static_cast<std::size_t>(std::count_if(frames.begin(), frames.end(), is_fall));
    const std::size_t catches = count_of(frames, "catch_thrown");
    const bool is_throwing = count_of(frames, "__cxa_throw") > 0;
    const auto first_own = std::find_if(frames.begin(), frames.end(), [](const Frame& f) {
        return is_fall(f) || is_function(f, "catch_thrown") || is_function(f, "main");
    });
    // uw_install_context_1 of libgcc writes its target's return address over that of the function
    // it runs for, some instructions before it goes there: the memory itself then says that this
    // function was called by its target's caller.
    const bool is_landing = first_own != frames.begin() && is_unwinder_entry(*(first_own - 1));
    const std::size_t most_catches = is_landing ? 2 : 1;
    const std::size_t most_falls = is_landing ? 11 : 10;
    frames.erase(frames.begin(), first_own);
    if (!frames.empty() && is_function(frames.front(), "main"))
        return matches(frames, below_main());
    return falls <= most_falls && catches <= most_catches && (!is_throwing || falls == 10) &&
           matches(frames, ExpectedStack(falls, {{"fall", "fall.cold"}, {}}) +
                               ExpectedStack(catches, named("catch_thrown")) + below_main());
}

bool is_rust_chain(const Stack& stack) {
    std::vector<Frame> frames = stack.user_frames();
    const ExpectedStack bottom = below_main();
    if (frames.size() < bottom.size()) return false;
    const auto main_frame = frames.end() - static_cast<std::ptrdiff_t>(bottom.size());
    if (!matches(std::vector<Frame>(main_frame, frames.end()), bottom)) return false;
    if (count_of(frames, "catch_panic") != 1) return false;
    const auto first_link = std::find_if(frames.begin(), frames.end(),
                                         [](const Frame& f) { return chain_link_of(f) != 0; });
    if (first_link == frames.end()) return true;
    const int link = chain_link_of(*first_link);
    if (frames.end() - first_link < link) return false;
    return matches(std::vector<Frame>(first_link, first_link + link), chain_from(link));
}

}  // namespace bobbin::test

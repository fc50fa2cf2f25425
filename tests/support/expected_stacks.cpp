// SPDX-License-Identifier: Apache-2.0
#include "support/expected_stacks.h"

#include <fmt/format.h>

#include <algorithm>

namespace bobbin::test {
namespace {

constexpr std::string_view kLibc = "libc.so.6";
constexpr std::string_view kDynamicLinker = "ld-linux-x86-64.so.2";

bool is_unnamed_in(const Frame& frame, std::string_view module) {
    return frame.function.starts_with(fmt::format("{}+0x", module));
}

}  // namespace

bool is_function(const Frame& frame, std::string_view name) {
    std::string_view rest = frame.function;
    if (!rest.starts_with(name)) return false;
    rest.remove_prefix(name.size());
    return rest.empty() || rest.starts_with('(') || rest.starts_with("@@");
}

ExpectedFrame named(std::string name) { return {{std::move(name)}, {}}; }
ExpectedFrame unnamed_in(std::string module) { return {{}, std::move(module)}; }

bool matches(const Frame& frame, const ExpectedFrame& expected) {
    if (!expected.module_when_unnamed.empty() && is_unnamed_in(frame, expected.module_when_unnamed))
        return true;
    return std::any_of(expected.names.begin(), expected.names.end(),
                       [&](const std::string& name) { return is_function(frame, name); });
}

bool matches(const std::vector<Frame>& frames, const ExpectedStack& expected) {
    return std::equal(frames.begin(), frames.end(), expected.begin(), expected.end(),
                      [](const Frame& f, const ExpectedFrame& e) { return matches(f, e); });
}

ExpectedStack chain_from(int innermost_link) {
    ExpectedStack chain;
    for (int link = innermost_link; link >= 1; --link)
        chain.push_back(named(fmt::format("chain_{:02}", link)));
    return chain;
}

int chain_link_of(const Frame& frame) {
    for (int link = 1; link <= 25; ++link)
        if (is_function(frame, fmt::format("chain_{:02}", link))) return link;
    return 0;
}

ExpectedStack below_main() {
    const std::string libc(kLibc);
    return {named("main"),
            {{"__libc_start_call_main"}, libc},
            {{"__libc_start_main", "__libc_start_main_impl", "__libc_start_main_alias_1",
              "__libc_start_main_alias_2"},
             libc},
            named("_start")};
}

ExpectedStack below_thread_function() {
    const std::string libc(kLibc);
    return {{{"start_thread"}, libc}, {{"clone3", "__clone3", "__GI___clone3"}, libc}};
}

ExpectedStack operator+(ExpectedStack inner, const ExpectedStack& outer) {
    inner.insert(inner.end(), outer.begin(), outer.end());
    return inner;
}

bool reaches_the_bottom(const Stack& stack) {
    const std::vector<Frame> frames = stack.user_frames();
    if (frames.empty()) return false;
    const Frame& root = frames.back();
    return matches(root, {{"_start"}, std::string(kDynamicLinker)}) ||
           matches(root, below_thread_function().back());
}

bool reaches_main_and_bottom(const Stack& stack) {
    const std::vector<Frame> frames = stack.user_frames();
    return reaches_the_bottom(stack) &&
           std::ranges::any_of(frames, [](const Frame& f) { return is_function(f, "main"); });
}

double Verdict::share_right() const {
    return judged == 0 ? 0 : static_cast<double>(right) / static_cast<double>(judged);
}

std::string Verdict::examples() const {
    std::vector<Stack> sorted = wrong;
    std::sort(sorted.begin(), sorted.end(),
              [](const Stack& a, const Stack& b) { return a.count > b.count; });
    std::string text = fmt::format("{} of {} samples as they had to be\n", right, judged);
    for (std::size_t i = 0; i < std::min<std::size_t>(sorted.size(), 3); ++i)
        text += describe(sorted[i]);
    return text;
}

Verdict judge(const std::vector<Stack>& stacks, const std::function<bool(const Stack&)>& applies,
              const std::function<bool(const Stack&)>& is_right) {
    Verdict verdict;
    for (const Stack& stack : stacks) {
        if (!applies(stack)) continue;
        verdict.judged += stack.count;
        if (is_right(stack)) {
            verdict.right += stack.count;
        } else {
            verdict.wrong.push_back(stack);
        }
    }
    return verdict;
}

}  // namespace bobbin::test

// SPDX-License-Identifier: Apache-2.0
#include "support/stacks.h"

#include <algorithm>

namespace bobbin::test {

std::vector<Frame> Stack::user_frames() const {
    std::vector<Frame> frames_of_user;
    // Code that the kernel compiled from BPF has a module of its own.
    for (const Frame& frame : frames)
        if (!frame.is_kernel && !frame.is_inlined && frame.module != "[bpf]")
            frames_of_user.push_back(frame);
    return frames_of_user;
}

bool Stack::has_kernel_frames() const {
    return std::any_of(frames.begin(), frames.end(), [](const Frame& f) { return f.is_kernel; });
}

std::string Stack::label(const std::string& name) const {
    const auto found = labels.find(name);
    return found == labels.end() ? std::string() : found->second;
}

std::uint64_t ProfileText::sample_count() const {
    std::uint64_t count = 0;
    for (const Stack& stack : stacks) count += stack.count;
    return count;
}

std::vector<Stack> ProfileText::stacks_of(const std::string& comm) const {
    std::vector<Stack> found;
    for (const Stack& stack : stacks)
        if (stack.label("comm") == comm) found.push_back(stack);
    return found;
}

std::uint64_t ProfileText::sample_count_of(const std::string& comm) const {
    std::uint64_t count = 0;
    for (const Stack& stack : stacks_of(comm)) count += stack.count;
    return count;
}

std::string describe(const Stack& stack) {
    std::string text = std::to_string(stack.count) + " x\n";
    for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame)
        text += "  " + frame->function + "  [" + frame->module + "]\n";
    return text;
}

}  // namespace bobbin::test

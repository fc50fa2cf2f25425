// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bobbin::test {

struct Frame {
    std::string function;
    std::string module;  // file name without its directory; empty when the format does not say
    bool is_kernel = false;
    bool is_inlined = false;  // into the frame behind it; not told by every format

    friend bool operator==(const Frame& a, const Frame& b) {
        return a.function == b.function && a.module == b.module && a.is_kernel == b.is_kernel;
    }
};

// One line of a profile: frames leaf first, kernel frames before user frames.
struct Stack {
    std::vector<Frame> frames;
    std::map<std::string, std::string> labels;  // numbers as text
    std::uint64_t count = 0;
    std::uint64_t value =
        0;  // of the second sample type: cpu/nanoseconds in ours; 0: there is none

    // What the stack in memory has: debugging information may add inlined functions, also of libc
    // where it is installed.
    [[nodiscard]] std::vector<Frame> user_frames() const;
    [[nodiscard]] bool has_kernel_frames() const;
    [[nodiscard]] std::string label(const std::string& name) const;
};

struct ProfileText {
    std::vector<Stack> stacks;
    std::vector<std::string> comments;
    std::vector<std::string> sample_types;
    std::uint64_t period = 0;

    [[nodiscard]] std::uint64_t sample_count() const;
    [[nodiscard]] std::vector<Stack> stacks_of(const std::string& comm) const;
    [[nodiscard]] std::uint64_t sample_count_of(const std::string& comm) const;
};

// Root first, one frame a line, for messages.
std::string describe(const Stack& stack);

}  // namespace bobbin::test

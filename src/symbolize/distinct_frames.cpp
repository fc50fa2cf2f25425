// SPDX-License-Identifier: Apache-2.0
#include "symbolize/distinct_frames.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>

namespace bobbin::symbolize {
namespace {

// bpf_abi.h orders the bits so that plain numeric order is the promised one.
template <class Word>
std::vector<Word> sorted(const std::unordered_set<Word>& words) {
    std::vector<Word> result(words.begin(), words.end());
    std::sort(result.begin(), result.end());
    return result;
}

template <class Word>
std::uint32_t position(const std::vector<Word>& words, Word word) {
    const auto found = std::lower_bound(words.begin(), words.end(), word);
    assert(found != words.end() && *found == word && "only frames that were counted are asked for");
    return static_cast<std::uint32_t>(found - words.begin());
}

}  // namespace

DistinctFrames::DistinctFrames(const aggregate::CountedStacks& counted) {
    std::unordered_set<std::uint64_t> kernel;
    std::unordered_set<abi::frame_word> user;
    for (const aggregate::CountedStack& stack : counted.stacks) {
        kernel.insert(stack.kernel_frames.begin(), stack.kernel_frames.end());
        for (const abi::frame_word frame : stack.user_frames) {
            user.insert(frame & ~FRAME_BY_FRAME_POINTER);
        }
    }
    kernel_ = sorted(kernel);
    user_ = sorted(user);
}

std::uint32_t DistinctFrames::number_of_kernel(std::uint64_t address) const {
    return position<std::uint64_t>(kernel_, address);
}

std::uint32_t DistinctFrames::number_of_user(abi::frame_word frame) const {
    return static_cast<std::uint32_t>(kernel_.size()) +
           position<abi::frame_word>(user_, frame & ~FRAME_BY_FRAME_POINTER);
}

}  // namespace bobbin::symbolize

// SPDX-License-Identifier: Apache-2.0
#include "symbolize/distinct_frames.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>

namespace bobbin::symbolize {
namespace {

template <class Set>
auto sorted(const Set& values) {
    std::vector<typename Set::value_type> result(values.begin(), values.end());
    std::sort(result.begin(), result.end());
    return result;
}

template <class Value>
std::uint32_t position(const std::vector<Value>& values, const Value& value) {
    const auto found = std::lower_bound(values.begin(), values.end(), value);
    assert(found != values.end() && *found == value &&
           "only frames that were counted are asked for");
    return static_cast<std::uint32_t>(found - values.begin());
}

struct PlaceHash {
    std::size_t operator()(const GeneratedPlace& place) const {
        const std::uint64_t process = place.process.start_boot_ns ^ place.process.pid;
        return std::hash<std::uint64_t>{}(process * 0x9E3779B97F4A7C15ULL ^ place.vaddr);
    }
};

bool has_generated_code(const aggregate::CountedStack& stack) {
    return std::ranges::any_of(stack.user_frames, is_generated);
}

std::set<ProcessId> find_naming_processes(const aggregate::CountedStacks& counted,
                                          const DistinctFrames::NamesItsCode& names_its_code) {
    std::set<ProcessId> with_code;
    for (const aggregate::CountedStack& stack : counted.stacks) {
        if (has_generated_code(stack)) with_code.insert(process_of(stack.owner));
    }
    std::erase_if(with_code, [&](const ProcessId& process) {
        return !names_its_code || !names_its_code(process);
    });
    return with_code;
}

}  // namespace

DistinctFrames::DistinctFrames(const aggregate::CountedStacks& counted,
                               const NamesItsCode& names_its_code)
    : naming_processes_(find_naming_processes(counted, names_its_code)) {
    std::unordered_set<std::uint64_t> kernel;
    std::unordered_set<abi::frame_word> files;
    std::unordered_set<GeneratedPlace, PlaceHash> generated;
    for (const aggregate::CountedStack& stack : counted.stacks) {
        kernel.insert(stack.kernel_frames.begin(), stack.kernel_frames.end());
        const ProcessId process = process_of(stack.owner);
        for (const abi::frame_word frame : stack.user_frames) {
            if (!is_generated(frame)) files.insert(frame & ~FRAME_BY_FRAME_POINTER);
            if (is_generated(frame)) generated.insert(place_of(process, frame));
        }
    }
    kernel_ = sorted(kernel);
    files_ = sorted(files);
    generated_ = sorted(generated);
}

GeneratedPlace DistinctFrames::place_of(const ProcessId& process, abi::frame_word frame) const {
    const bool names = naming_processes_.contains(process);
    return {.process = names ? process : ProcessId{}, .vaddr = frame & FRAME_ANONYMOUS_MASK};
}

std::uint32_t DistinctFrames::number_of_kernel(std::uint64_t address) const {
    return position<std::uint64_t>(kernel_, address);
}

std::uint32_t DistinctFrames::number_of_user(const aggregate::SampleOwner& owner,
                                             abi::frame_word frame) const {
    const auto kernel_count = static_cast<std::uint32_t>(kernel_.size());
    if (!is_generated(frame)) {
        return kernel_count + position<abi::frame_word>(files_, frame & ~FRAME_BY_FRAME_POINTER);
    }
    return kernel_count + static_cast<std::uint32_t>(files_.size()) +
           position(generated_, place_of(process_of(owner), frame));
}

}  // namespace bobbin::symbolize

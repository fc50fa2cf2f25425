// SPDX-License-Identifier: Apache-2.0
#include "symbolize/often_sampled.h"

#include <map>
#include <set>

#include "symbolize/code_maps.h"
#include "symbolize/distinct_frames.h"

namespace bobbin::symbolize {

std::vector<std::uint32_t> find_often_sampled(const aggregate::CountedStacks& counted,
                                              std::uint64_t of_samples) {
    std::map<std::uint32_t, std::uint64_t> samples_by_id;
    for (const aggregate::CountedStack& stack : counted.stacks) {
        std::set<std::uint32_t> ids;
        for (const abi::frame_word frame : stack.user_frames) {
            if (!is_generated(frame)) ids.insert(executable_id_of(frame));
        }
        for (const std::uint32_t id : ids) samples_by_id[id] += stack.count;
    }
    std::vector<std::uint32_t> often;
    for (const auto& [id, samples] : samples_by_id) {
        if (samples * of_samples >= counted.sample_count) often.push_back(id);
    }
    return often;
}

}  // namespace bobbin::symbolize

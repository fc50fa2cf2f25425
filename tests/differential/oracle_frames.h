// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bobbin::test {

// A frame as all unwinders can state it: pc of the leaf, else return address, not stepped back.
struct OracleFrame {
    std::uint64_t pc_vaddr = 0;
    // The pc itself was or will be run, it is not one behind a call: leaf, interrupted by a signal.
    bool is_activation = false;

    // libdw calls the frame of the signal trampoline an activation, too; what comes of it shows in
    // the callers.
    friend bool operator==(const OracleFrame& a, const OracleFrame& b) {
        return a.pc_vaddr == b.pc_vaddr;
    }
};

struct OracleStack {
    std::vector<OracleFrame> frames;
    std::string gave_up;  // why the last frame has no caller; empty when it says it is the bottom
};

}  // namespace bobbin::test

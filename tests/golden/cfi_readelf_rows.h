// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cfi/eh_frame.h"

namespace bobbin::test {

// The columns of `readelf --debug-dump=frames-interp` that we have too; "" where it has none.
struct ReadelfRow {
    std::string cfa;
    std::string rbp;
    std::string return_address;
};
using ReadelfRows = std::map<std::uint64_t, ReadelfRow>;

// What readelf prints of all call frame information of a file.
ReadelfRows run_readelf(const std::string& path);

// Fails the test for each line of `theirs` that `ours` does not agree with.
void expect_agreement(const ReadelfRows& theirs, const cfi::EhFrame& ours, const std::string& path);

}  // namespace bobbin::test

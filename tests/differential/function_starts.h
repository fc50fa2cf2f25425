// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bpf_host/traced_mappings.h"

namespace bobbin::test {

// Where functions begin, said by symbols and by the search table of .eh_frame_hdr (LSB 5.0 chapter
// 10.6.2), which stripped files have too. Thinned to the given number a file, evenly.
class FunctionStarts {
public:
    explicit FunctionStarts(std::size_t most_of_one_file) : most_of_one_file_(most_of_one_file) {}

    // Those in mappings that were not asked for before.
    std::vector<std::uint64_t> new_in(const std::vector<TracedMapping>& mappings);

private:
    std::size_t most_of_one_file_;
    std::map<std::pair<std::string, std::uint64_t>, std::vector<std::uint64_t>> offsets_by_file_;
};

}  // namespace bobbin::test

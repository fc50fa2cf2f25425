// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace bobbin::cfi {

// Which of a list starts where.
struct StartPlace {
    std::uint32_t vaddr_from_base = 0;
    std::uint32_t index = 0;
};

// By rising start; those with one start keep their order. A radix sort: linear whatever the bytes
// say, and linkers lay out .text.hot, .text and .text.unlikely so that .eh_frame becomes a few
// interleaved rising runs, with which std::sort falls back to its heap sort.
void sort_by_start(std::vector<StartPlace>& places);

}  // namespace bobbin::cfi

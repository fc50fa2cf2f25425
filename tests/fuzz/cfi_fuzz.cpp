// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <span>

#include "cfi/eh_frame.h"
#include "fuzz/check_rows.h"

// The input is an .eh_frame.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::uint64_t kSectionFileVaddr = 0x400000;
    const auto section = std::as_bytes(std::span(data, size));
    const auto frame = bobbin::cfi::read_eh_frame(section, kSectionFileVaddr);
    if (!frame) return 0;
    bobbin::fuzz::check_rows(frame->unwind);
    bobbin::fuzz::require(frame->unwind.rows.empty() == (frame->fde_count == 0));
    // One row takes two bytes at least, and the end of a function one more row.
    bobbin::fuzz::require(frame->unwind.rows.size() <= size + 2 * frame->fde_count);
    return 0;
}

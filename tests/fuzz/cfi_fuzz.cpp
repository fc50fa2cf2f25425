// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <span>

#include "cfi/eh_frame.h"
#include "cfi/merge_rows.h"
#include "fuzz/check_rows.h"

namespace {

using bobbin::cfi::EhFrame;
using bobbin::fuzz::check_rows;
using bobbin::fuzz::require;

void check(const EhFrame& frame, std::size_t section_size) {
    check_rows(frame.unwind);
    require(frame.unwind.rows.empty() == (frame.fde_count == 0));
    // One row takes two bytes at least, and the end of a function one more row.
    require(frame.unwind.rows.size() <= section_size + 2 * frame.fde_count);
}

}  // namespace

// The input is an .eh_frame, and also a .debug_frame.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::uint64_t kSectionFileVaddr = 0x400000;
    const auto section = std::as_bytes(std::span(data, size));
    const auto eh_frame = bobbin::cfi::read_eh_frame(section, kSectionFileVaddr);
    if (eh_frame) check(*eh_frame, size);
    const auto debug_frame = bobbin::cfi::read_debug_frame(section);
    if (debug_frame) check(*debug_frame, size);
    if (eh_frame && debug_frame) {
        check_rows(bobbin::cfi::merge_rows(eh_frame->unwind, debug_frame->unwind));
        check_rows(bobbin::cfi::merge_rows(debug_frame->unwind, eh_frame->unwind));
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/check_rows.h"
#include "pclntab/function_table.h"
#include "pclntab/text_start.h"
#include "pclntab/unwind_rows.h"

// The input is a .gopclntab; its own bytes serve as module data, too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::uint64_t kTextStart = 0x401000;
    const auto section = std::as_bytes(std::span(data, size));
    (void)bobbin::pclntab::find_function_table(section);
    auto table = bobbin::pclntab::FunctionTable::open(section);
    if (!table) return 0;
    (void)bobbin::pclntab::read_text_start(section, *table, kTextStart);
    if (!table->knows_text_start()) table->set_text_start(kTextStart);
    const auto rows = bobbin::pclntab::read_unwind_rows(*table);
    if (!rows) return 0;
    bobbin::fuzz::check_rows(rows->unwind);
    bobbin::fuzz::require(rows->unwind.rows.empty() == (rows->function_count == 0));
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace bobbin::unwind_table {

// How many new special rules, or macros, one file may bring: a quarter of the room there is, so
// that no file, and no row of files however hostile, takes all of it from the ones that come later.
// The first may bring 1,023 special rules, about as many as all of /usr has together.
constexpr std::size_t share_of_one_file(std::size_t room) { return room / 4; }

}  // namespace bobbin::unwind_table

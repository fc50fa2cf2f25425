// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bobbin::screen {

struct CellText {
    std::string text;
    std::size_t columns = 0;  // that a terminal shows it in
};

// A foreign text in at most `max_columns` columns, which a longer one fills with an ellipsis at its
// end, or one short of that where a wide character does not fit. Control characters are escaped;
// marks that take no column of their own, and those that turn the direction of writing, are left
// out, because terminals do not agree about them. Without `utf8` every character beyond ASCII, and
// otherwise every broken one, becomes a question mark.
CellText cut(std::string_view text, std::size_t max_columns, bool utf8);

// Columns of a character: 0, 1 or 2 (East Asian Width W and F of Unicode 15, and emoji).
std::size_t columns_of(char32_t character);

}  // namespace bobbin::screen

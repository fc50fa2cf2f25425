// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bobbin::screen {

enum class KeyKind : std::uint8_t {
    kCharacter,
    kEnter,
    kEscape,
    kBackspace,
    kUp,
    kDown,
    kLeft,
    kRight,
    kPageUp,
    kPageDown,
    kHome,
    kEnd,
};

struct Key {
    KeyKind kind = KeyKind::kCharacter;
    char byte = 0;  // of kCharacter: one byte of what was typed, which may be UTF-8

    friend bool operator==(const Key&, const Key&) = default;
};

// Reads what a terminal sends: bytes, and control sequences (ECMA-48 5.4, xterm's cursor keys),
// which may come in pieces. Sequences of keys that mean nothing here are left out.
class KeyReader {
public:
    std::vector<Key> read(std::string_view bytes);
    // The rest of a sequence may still come.
    [[nodiscard]] bool is_in_sequence() const { return !pending_.empty(); }
    // It did not come: what began like a sequence was the key Escape.
    std::vector<Key> give_up_sequence();

private:
    bool take_sequence(std::vector<Key>& keys);

    std::string pending_;  // from ESC on
};

}  // namespace bobbin::screen

// SPDX-License-Identifier: Apache-2.0
#include "screen/keys.h"

#include <array>
#include <optional>
#include <utility>

namespace bobbin::screen {
namespace {

constexpr char kEsc = '\x1b';
// Sequences of keys have less than ten bytes; anything longer is none.
constexpr std::size_t kMaxSequenceBytes = 32;

struct NamedSequence {
    std::string_view rest;  // behind ESC [ or ESC O
    KeyKind kind;
};
constexpr std::array kSequences{
    NamedSequence{"A", KeyKind::kUp},      NamedSequence{"B", KeyKind::kDown},
    NamedSequence{"C", KeyKind::kRight},   NamedSequence{"D", KeyKind::kLeft},
    NamedSequence{"H", KeyKind::kHome},    NamedSequence{"F", KeyKind::kEnd},
    NamedSequence{"1~", KeyKind::kHome},   NamedSequence{"4~", KeyKind::kEnd},
    NamedSequence{"7~", KeyKind::kHome},   NamedSequence{"8~", KeyKind::kEnd},
    NamedSequence{"5~", KeyKind::kPageUp}, NamedSequence{"6~", KeyKind::kPageDown},
    NamedSequence{"M", KeyKind::kEnter},
};

std::optional<Key> key_of(std::string_view rest) {
    for (const NamedSequence& known : kSequences) {
        if (known.rest == rest) return Key{.kind = known.kind};
    }
    return std::nullopt;
}

std::optional<Key> key_of(char byte) {
    if (byte == '\r' || byte == '\n') return Key{.kind = KeyKind::kEnter};
    if (byte == '\x7f' || byte == '\b') return Key{.kind = KeyKind::kBackspace};
    const auto value = static_cast<unsigned char>(byte);
    if (value < 0x20) return std::nullopt;
    return Key{.kind = KeyKind::kCharacter, .byte = byte};
}

}  // namespace

// A final byte of 0x40 to 0x7e ends a control sequence. Anything but [ or O behind ESC means that
// Escape was typed, and then another key.
bool KeyReader::take_sequence(std::vector<Key>& keys) {
    const std::string_view all = pending_;
    if (all.size() < 2) return false;
    if (all[1] != '[' && all[1] != 'O') {
        keys.push_back({.kind = KeyKind::kEscape});
        pending_.erase(0, 1);
        return true;
    }
    for (std::size_t i = 2; i < all.size(); ++i) {
        if (all[i] < 0x40 || all[i] > 0x7e) continue;
        if (const auto key = key_of(all.substr(2, i - 1))) keys.push_back(*key);
        pending_.erase(0, i + 1);
        return true;
    }
    if (all.size() > kMaxSequenceBytes) pending_.clear();
    return false;
}

std::vector<Key> KeyReader::read(std::string_view bytes) {
    std::vector<Key> keys;
    pending_ += bytes;
    while (!pending_.empty()) {
        if (pending_.front() == kEsc) {
            if (!take_sequence(keys)) break;
            continue;
        }
        if (const auto key = key_of(pending_.front())) keys.push_back(*key);
        pending_.erase(0, 1);
    }
    return keys;
}

std::vector<Key> KeyReader::give_up_sequence() {
    if (pending_.empty()) return {};
    pending_.erase(0, 1);
    std::vector<Key> keys{{.kind = KeyKind::kEscape}};
    for (const Key& key : read(std::exchange(pending_, {}))) keys.push_back(key);
    return keys;
}

}  // namespace bobbin::screen

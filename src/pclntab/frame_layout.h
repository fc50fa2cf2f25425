// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "pclntab/function_table.h"
#include "pclntab/stack_depths.h"

namespace bobbin::pclntab {

// How the assembler opens a frame, cmd/internal/obj/x86/obj6.go, preprocess. The caller's rbp
// comes to stand at cfa - 16 either way, the word at which rbp points from then on.
enum class Prologue : std::uint8_t {
    kPush,  // since Go 1.21: push rbp; mov rbp, rsp; sub rsp, LOCALS
    kMove,  // before: sub rsp, LOCALS + 8; mov [rsp + LOCALS], rbp; lea rbp, [rsp + LOCALS]
};

// Which of the two a program has. Its functions say it: the first step of a push is always 8.
Prologue find_prologue(const FunctionTable& table);

// From where on, counted from the function's start, a frame holds the caller's rbp, and from where
// on rbp points there. The depths do not say it, the lengths of the prologue's instructions do.
struct FrameLayout {
    static constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t frame_begin = kNever;  // first depth above 0
    std::uint32_t rbp_saved = kNever;
    std::uint32_t rbp_is_frame_pointer = kNever;
};

FrameLayout find_frame_layout(std::span<const std::byte> stack_depths, Prologue prologue);

}  // namespace bobbin::pclntab

// SPDX-License-Identifier: Apache-2.0
#include "pclntab/frame_layout.h"

#include <cstddef>
#include <optional>

namespace bobbin::pclntab {
namespace {

constexpr std::int32_t kSavedRbpBytes = 8;

std::optional<DepthSpan> first_frame_of(std::span<const std::byte> stack_depths) {
    StackDepths depths(stack_depths);
    // A prologue stands at the beginning; a function may check its stack's room before.
    constexpr int kSpansLookedAt = 4;
    for (int i = 0; i < kSpansLookedAt; ++i) {
        const std::optional<DepthSpan> span = depths.next();
        if (!span || span->depth_bytes > 0) return span;
    }
    return std::nullopt;
}

// mov [rsp + LOCALS], rbp and lea rbp, [rsp + LOCALS] are of one length: opcode, ModRM and SIB,
// then the displacement, left away when 0 (Intel SDM volume 2, table 2-2).
std::uint32_t move_bytes(std::int32_t locals_bytes) {
    constexpr std::uint32_t kWithoutDisplacement = 4;
    constexpr std::int32_t kMaxByte = 127;
    if (locals_bytes == 0) return kWithoutDisplacement;
    return kWithoutDisplacement + (locals_bytes <= kMaxByte ? 1 : 4);
}

FrameLayout layout_of(const DepthSpan& frame, Prologue prologue) {
    constexpr std::uint32_t kMovRbpRspBytes = 3;
    // PUSH_REGS_HOST_TO_ABI0 (runtime/cgo/abi_amd64.h) keeps the six registers of C callers in a
    // function without a prologue, and has the old one's two instructions.
    constexpr std::int32_t kHostRegistersBytes = 48;
    FrameLayout layout;
    layout.frame_begin = frame.begin;
    if (prologue == Prologue::kPush && frame.depth_bytes == kSavedRbpBytes) {
        layout.rbp_saved = frame.begin;
        layout.rbp_is_frame_pointer = frame.begin + kMovRbpRspBytes;
    } else if (prologue == Prologue::kMove || frame.depth_bytes == kHostRegistersBytes) {
        const std::uint32_t bytes = move_bytes(frame.depth_bytes - kSavedRbpBytes);
        layout.rbp_saved = frame.begin + bytes;
        // A step of 8 may as well be a push that the assembly itself has: sigfwd of Go 1.19.
        if (frame.depth_bytes > kSavedRbpBytes)
            layout.rbp_is_frame_pointer = frame.begin + 2 * bytes;
    }
    return layout;
}

}  // namespace

Prologue find_prologue(const FunctionTable& table) {
    if (table.version() < Version::kGo120) return Prologue::kMove;
    std::size_t pushes = 0;
    std::size_t others = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::optional<Function> function = table.function(i);
        // The runtime's and others' assembly may push what it likes.
        if (!function || function->flags != 0) continue;
        const auto frame = first_frame_of(table.stack_depths_of(*function));
        if (frame) ++(frame->depth_bytes == kSavedRbpBytes ? pushes : others);
    }
    return pushes > others ? Prologue::kPush : Prologue::kMove;
}

FrameLayout find_frame_layout(std::span<const std::byte> stack_depths, Prologue prologue) {
    const std::optional<DepthSpan> frame = first_frame_of(stack_depths);
    return frame ? layout_of(*frame, prologue) : FrameLayout{};
}

}  // namespace bobbin::pclntab

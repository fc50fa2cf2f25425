// SPDX-License-Identifier: Apache-2.0
#include "user_walk/walk_on.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "user_walk/unwinder.h"

namespace bobbin::user_walk {
namespace {

// There is one unwinder (unwinder.h).
std::mutex& unwinder_mutex() {
    static std::mutex mutex;
    return mutex;
}

__u32 read_present(const void* memory, void* to, __u32 size, __u64 from_vaddr) {
    return static_cast<__u32>(static_cast<const PausedMemory*>(memory)->read(
        from_vaddr, {static_cast<std::byte*>(to), size}));
}

walk_mapping as_seen(const abi::paused_mapping& mapping, const StateOfFile& state_of) {
    walk_mapping seen{.start_vaddr = mapping.vm_start_vaddr,
                      .end_vaddr = mapping.vm_end_vaddr,
                      .file_offset = mapping.file_offset,
                      .executable_id = mapping.executable_id,
                      .is_executable = 1,
                      .file_state = abi::FILE_ANNOUNCED,
                      .is_file_without = 0};
    if ((mapping.flags & abi::PAUSED_FILE_UNKNOWN) != 0) {
        seen.is_file_without = 1;
    } else if (mapping.executable_id != 0) {
        seen.file_state = state_of(mapping.executable_id);
    }
    return seen;
}

// The record's mappings and, in its place, the stack: what was copied bounds a frame pointer.
std::vector<walk_mapping> mappings_of(const PausedWalk& walk, const StateOfFile& state_of) {
    std::vector<walk_mapping> mappings;
    mappings.reserve(walk.mappings.size() + 1);
    for (const abi::paused_mapping& mapping : walk.mappings) {
        mappings.push_back(as_seen(mapping, state_of));
    }
    const abi::paused_walk& at = walk.position;
    walk_mapping stack{};
    stack.end_vaddr = at.stack_vaddr + at.stack_span_bytes;
    // The red zone below rsp was copied, but no frame lies there.
    stack.start_vaddr = std::clamp(at.rsp, at.stack_vaddr, stack.end_vaddr);
    const auto above =
        std::ranges::upper_bound(mappings, stack.start_vaddr, {}, &walk_mapping::end_vaddr);
    // An executable stack is among the mappings.
    if (above == mappings.end() || above->start_vaddr >= stack.end_vaddr) {
        mappings.insert(above, stack);
    }
    return mappings;
}

std::uint32_t executable_of(abi::frame_word frame) {
    return static_cast<std::uint32_t>(frame >> FRAME_EXECUTABLE_SHIFT & FRAME_EXECUTABLE_MASK);
}

// One walk with the tables as they are; a bucket of them may be missing.
ContinuedWalk walk_with(const unwind_tables& tables, PausedWalk& walk,
                        const std::vector<walk_mapping>& mappings, std::uint32_t most_frames) {
    const PausedMemory memory(walk);
    const std::span<const std::byte> at_once = memory.first_run();
    const walk_process process{.mappings = mappings.data(),
                               .mapping_count = mappings.size(),
                               .vdso_vaddr = walk.position.vdso_vaddr,
                               .start_stack_vaddr = walk.position.start_stack_vaddr,
                               .stack_vaddr = walk.position.stack_vaddr,
                               .stack_bytes = at_once.size(),
                               .stack = at_once.data(),
                               .read_elsewhere = read_present,
                               .elsewhere = &memory};
    const abi::frame_word* frames = nullptr;
    std::uint32_t end = 0;
    use_unwind_tables(&tables);
    const std::uint32_t count = walk_on_from(&process, &walk.position, most_frames, &frames, &end);
    return {.frames = {frames, frames + count}, .end = static_cast<abi::walk_end>(end)};
}

// The same with all buckets that it needs. `walk` is as before where one cannot be had.
std::optional<ContinuedWalk> walk_with_all(TableSource& source, PausedWalk& walk,
                                           const std::vector<walk_mapping>& mappings,
                                           std::uint32_t most_frames) {
    const abi::paused_walk begin = walk.position;
    while (true) {
        ContinuedWalk walked = walk_with(source.tables(), walk, mappings, most_frames);
        const std::int64_t missing = missing_unwind_bucket();
        if (missing < 0) return walked;
        walk.position = begin;
        if (!source.add_bucket(static_cast<std::uint32_t>(missing))) return std::nullopt;
    }
}

void say_what_is_awaited(const ContinuedWalk& walked, abi::paused_walk& position) {
    if (walked.end != abi::WALK_END_FILE_NOT_READY || walked.frames.empty()) return;
    position.awaited_executable_id = executable_of(walked.frames.back());
}

}  // namespace

ContinuedWalk walk_on(TableSource& source, PausedWalk& walk, std::uint32_t most_frames,
                      const StateOfFile& state_of) {
    const std::scoped_lock lock(unwinder_mutex());
    const std::vector<walk_mapping> mappings = mappings_of(walk, state_of);
    auto walked = walk_with_all(source, walk, mappings, most_frames);
    if (!walked) return {};
    if (walked->end == abi::WALK_END_NO_MAPPING &&
        (walk.position.flags & abi::PAUSED_MAPPINGS_CUT) != 0) {
        // In one that was not listed, of which nobody can know any more.
        walked->end = abi::WALK_END_MAPPING_UNREADABLE;
    }
    say_what_is_awaited(*walked, walk.position);
    return std::move(*walked);
}

}  // namespace bobbin::user_walk

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bobbin::luajit {

// What no instruction of the VM gives away and is the same in every build of LuaJIT 2.1 for x86-64
// since its third beta, but for the size of references: bytes from the beginning of an object
// (lj_obj.h, lj_jit.h). Fields of 32 bits are marked, references are not.
struct ObjectOffsets {
    std::int32_t gct = 0;  // uint8, of every object: its type

    std::int32_t function_ffid = 0;  // uint8: kLuaFunction, kCFunction or that of a builtin

    std::int32_t prototype_bytes = 0;           // bytecode follows
    std::int32_t prototype_bytecode_count = 0;  // sizebc, 32 bits
    std::int32_t prototype_chunk_name = 0;
    std::int32_t prototype_first_line = 0;  // 32 bits
    std::int32_t prototype_line_count = 0;  // 32 bits
    std::int32_t prototype_line_info = 0;
    std::int32_t prototype_upvalue_info = 0;

    std::int32_t trace_snapshot_count = 0;  // 16 bits
    std::int32_t trace_ir = 0;              // (8)
    std::int32_t trace_constants = 0;       // nk, 32 bits
    std::int32_t trace_snapshots = 0;       // (8)
    std::int32_t trace_snapshot_map = 0;    // (8)
    std::int32_t trace_start_prototype = 0;
    std::int32_t trace_start_pc = 0;
    std::int32_t trace_machine_code_bytes = 0;  // szmcode, 32 bits
    std::int32_t trace_machine_code_loop = 0;   // mcloop, 64 bits
    std::int32_t trace_number = 0;              // 16 bits
    std::int32_t trace_link = 0;                // 16 bits
    std::int32_t trace_root = 0;                // 16 bits
};

inline constexpr ObjectOffsets kObjectOffsets64{.gct = 9,
                                                .function_ffid = 10,
                                                .prototype_bytes = 104,
                                                .prototype_bytecode_count = 12,
                                                .prototype_chunk_name = 64,
                                                .prototype_first_line = 72,
                                                .prototype_line_count = 76,
                                                .prototype_line_info = 80,
                                                .prototype_upvalue_info = 88,
                                                .trace_snapshot_count = 10,
                                                .trace_ir = 32,
                                                .trace_constants = 40,
                                                .trace_snapshots = 48,
                                                .trace_snapshot_map = 56,
                                                .trace_start_prototype = 64,
                                                .trace_start_pc = 72,
                                                .trace_machine_code_bytes = 84,
                                                .trace_machine_code_loop = 96,
                                                .trace_number = 104,
                                                .trace_link = 106,
                                                .trace_root = 108};

inline constexpr ObjectOffsets kObjectOffsets32{.gct = 5,
                                                .function_ffid = 6,
                                                .prototype_bytes = 64,
                                                .prototype_bytecode_count = 8,
                                                .prototype_chunk_name = 40,
                                                .prototype_first_line = 44,
                                                .prototype_line_count = 48,
                                                .prototype_line_info = 52,
                                                .prototype_upvalue_info = 56,
                                                .trace_snapshot_count = 6,
                                                .trace_ir = 16,
                                                .trace_constants = 24,
                                                .trace_snapshots = 32,
                                                .trace_snapshot_map = 40,
                                                .trace_start_prototype = 48,
                                                .trace_start_pc = 52,
                                                .trace_machine_code_bytes = 60,
                                                .trace_machine_code_loop = 72,
                                                .trace_number = 80,
                                                .trace_link = 82,
                                                .trace_root = 84};

inline constexpr const ObjectOffsets& object_offsets(bool is_gc64) {
    return is_gc64 ? kObjectOffsets64 : kObjectOffsets32;
}

// gct: ~LJ_T* of lj_obj.h.
enum class ObjectType : std::uint8_t { kString = 4, kCoroutine = 6, kPrototype = 7, kFunction = 8 };

// function_ffid: FF_LUA and FF_C of lj_obj.h; above them are the builtins.
inline constexpr std::uint8_t kLuaFunction = 0;
inline constexpr std::uint8_t kCFunction = 1;

}  // namespace bobbin::luajit

// SPDX-License-Identifier: Apache-2.0
#include "differential/libunwind_oracle.h"

#include <libunwind-ptrace.h>

#include <memory>

namespace bobbin::test {
namespace {

constexpr std::size_t kMaxFrames = 1024;

struct DestroySpace {
    void operator()(unw_addr_space_t space) const { unw_destroy_addr_space(space); }
};
struct DestroyThread {
    void operator()(void* thread) const { _UPT_destroy(thread); }
};

// No caching: what a module said at the last stop may have changed with dlopen.
unw_addr_space_t address_space() {
    static const std::unique_ptr<unw_addr_space, DestroySpace> space(
        unw_create_addr_space(&_UPT_accessors, 0));
    unw_set_caching_policy(space.get(), UNW_CACHE_NONE);
    return space.get();
}

}  // namespace

OracleStack walk_with_libunwind(pid_t thread) {
    OracleStack stack;
    const std::unique_ptr<void, DestroyThread> traced(_UPT_create(thread));
    unw_cursor_t cursor{};
    int status = unw_init_remote(&cursor, address_space(), traced.get());
    bool is_activation = true;
    while (status >= 0 && stack.frames.size() < kMaxFrames) {
        unw_word_t pc = 0;
        status = unw_get_reg(&cursor, UNW_REG_IP, &pc);
        if (status < 0 || pc == 0) break;
        stack.frames.push_back({.pc_vaddr = pc, .is_activation = is_activation});
        is_activation = unw_is_signal_frame(&cursor) > 0;
        status = unw_step(&cursor);
        if (status == 0) break;
    }
    if (status < 0) stack.gave_up = unw_strerror(status);
    return stack;
}

}  // namespace bobbin::test

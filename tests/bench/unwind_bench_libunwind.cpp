// SPDX-License-Identifier: Apache-2.0
#include "unwind_bench_libunwind.h"

#include <utility>

namespace bobbin::test {
namespace {

// libunwind hands its argument to some of these and that of _UPT_* to others: a global serves all.
const StoppedThread* current = nullptr;
void* traced = nullptr;

int find_proc_info(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t* info, int need,
                   void* /*argument*/) {
    return _UPT_find_proc_info(space, pc, info, need, traced);
}

void put_unwind_info(unw_addr_space_t space, unw_proc_info_t* info, void* /*argument*/) {
    _UPT_put_unwind_info(space, info, traced);
}

int no_dynamic_info(unw_addr_space_t /*space*/, unw_word_t* /*list*/, void* /*argument*/) {
    return -UNW_ENOINFO;
}

int access_memory(unw_addr_space_t /*space*/, unw_word_t vaddr, unw_word_t* value, int write,
                  void* /*argument*/) {
    if (write != 0) return -UNW_EINVAL;
    return current->read(vaddr, std::as_writable_bytes(std::span(value, 1))) ? 0 : -UNW_EINVAL;
}

// UNW_X86_64_* are DWARF numbers.
int access_register(unw_addr_space_t /*space*/, unw_regnum_t number, unw_word_t* value, int write,
                    void* /*argument*/) {
    if (write != 0 || number < 0 || number >= user_walk::WALK_REGISTERS) return -UNW_EBADREG;
    *value = current->registers()[static_cast<std::size_t>(number)];
    return 0;
}

int access_float(unw_addr_space_t /*space*/, unw_regnum_t /*number*/, unw_fpreg_t* /*value*/,
                 int /*write*/, void* /*argument*/) {
    return -UNW_EBADREG;
}

unw_accessors_t accessors() {
    unw_accessors_t result{};
    result.find_proc_info = find_proc_info;
    result.put_unwind_info = put_unwind_info;
    result.get_dyn_info_list_addr = no_dynamic_info;
    result.access_mem = access_memory;
    result.access_reg = access_register;
    result.access_fpreg = access_float;
    return result;
}

}  // namespace

CachedLibunwind::CachedLibunwind(const TracedProcess& process, unw_caching_policy_t policy)
    : traced_(_UPT_create(process.pid())) {
    static unw_accessors_t callbacks = accessors();
    space_.reset(unw_create_addr_space(&callbacks, 0));
    unw_set_caching_policy(space_.get(), policy);
    traced = traced_.get();
}

std::uint64_t CachedLibunwind::walk(const StoppedThread& stack) {
    unw_cursor_t cursor;
    current = &stack;
    if (unw_init_remote(&cursor, space_.get(), traced) < 0) return 0;
    std::uint64_t frames = 1;
    while (unw_step(&cursor) > 0) ++frames;
    if (!std::exchange(has_large_cache_, true)) {
        // The most there is. Before its first use libunwind 1.6 takes any size for the default,
        // which is 128.
        constexpr std::size_t kMostPlaces = 32768;
        unw_set_cache_size(space_.get(), kMostPlaces, 0);
    }
    return frames;
}

}  // namespace bobbin::test

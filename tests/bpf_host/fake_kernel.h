/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOBBIN_FAKE_KERNEL_H
#define BOBBIN_FAKE_KERNEL_H

/* Maps, memory and helpers for bpf/ on the host. */

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fake_map_kind {
    FAKE_ARRAY,
    FAKE_HASH,
    FAKE_QUEUE,
    FAKE_RING,
    FAKE_ARRAY_OF_MAPS,
};

void fake_map_create(void* map, enum fake_map_kind kind, __u64 key_size, __u64 value_size,
                     __u64 max_entries);
void fake_kernel_set_task(void* task, __u32 pid, long saved_registers);

#ifdef __cplusplus
}

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Forgets all maps' contents, user memory and records.
void fake_kernel_reset();
// A stretch of user memory; outside of all of them reads fail as on an unmapped page.
void fake_user_memory(std::uint64_t vaddr, std::span<const std::byte> bytes);
void fake_user_memory_forget();
// Records of a ring buffer so far.
const std::vector<std::vector<std::byte>>& fake_ring_records(void* ring);
void fake_ring_refuses(void* ring, bool refuses);
void fake_ring_refuses_above(void* ring, std::uint64_t bytes);
// Its size, and how much of it nobody has read yet.
std::uint64_t fake_ring_bytes(void* ring);
void fake_ring_waiting(void* ring, std::uint64_t bytes);
// Kernel stack that bpf_get_stack gives.
void fake_kernel_stack(std::vector<std::uint64_t> frames);
// How often user memory was read.
std::uint64_t fake_user_read_count();
// Words of the pool of unwind tables, through the buckets.
void fake_write_pool(void* buckets, std::uint32_t first_word, std::span<const std::uint32_t> words);
#endif
#endif

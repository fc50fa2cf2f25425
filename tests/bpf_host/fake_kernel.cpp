// SPDX-License-Identifier: Apache-2.0
#include "fake_kernel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

namespace {

using Bytes = std::vector<std::byte>;

struct FakeMap {
    fake_map_kind kind = FAKE_ARRAY;
    std::uint64_t key_size = 0;
    std::uint64_t value_size = 0;
    std::uint64_t max_entries = 0;
    std::map<Bytes, Bytes> values;  // of arrays, too: key = index
    std::deque<Bytes> queue;
    std::vector<Bytes> records;
    std::uint64_t largest_record = ~std::uint64_t{0};
    std::uint64_t ring_bytes = 0;
    std::uint64_t waiting_bytes = 0;
};

std::map<const void*, FakeMap> maps;
std::vector<const void*> inner_maps;  // keys in maps: a value of an array of maps is a map itself
std::map<std::uint64_t, Bytes> user_memory;
std::vector<std::uint64_t> kernel_stack;
std::uint64_t user_reads = 0;
void* current_task = nullptr;
std::uint32_t current_pid = 0;
long current_registers = 0;

Bytes copy_of(const void* data, std::uint64_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    return {bytes, bytes + size};
}

}  // namespace

extern "C" {

void fake_map_create(void* map, fake_map_kind kind, __u64 key_size, __u64 value_size,
                     __u64 max_entries) {
    maps[map] = FakeMap{.kind = kind,
                        .key_size = key_size,
                        .value_size = value_size,
                        .max_entries = max_entries,
                        .values = {},
                        .queue = {},
                        .records = {},
                        .ring_bytes = kind == FAKE_RING ? max_entries : 0};
}

void fake_kernel_set_task(void* task, __u32 pid, long saved_registers) {
    current_task = task;
    current_pid = pid;
    current_registers = saved_registers;
}

void* bpf_map_lookup_elem(void* map, const void* key) {
    FakeMap& fake = maps.at(map);
    const Bytes wanted = copy_of(key, fake.key_size);
    const auto found = fake.values.find(wanted);
    if (found != fake.values.end()) return found->second.data();
    if (fake.kind != FAKE_ARRAY) return nullptr;
    std::uint32_t index = 0;
    std::memcpy(&index, key, sizeof(index));
    if (index >= fake.max_entries) return nullptr;
    return fake.values.emplace(wanted, Bytes(fake.value_size)).first->second.data();
}

long bpf_map_update_elem(void* map, const void* key, const void* value, __u64 flags) {
    FakeMap& fake = maps.at(map);
    const Bytes wanted = copy_of(key, fake.key_size);
    const bool known = fake.values.contains(wanted);
    if (known && flags == 1) return -EEXIST;  // BPF_NOEXIST
    if (!known && fake.values.size() >= fake.max_entries) return -E2BIG;
    fake.values[wanted] = copy_of(value, fake.value_size);
    return 0;
}

long bpf_map_delete_elem(void* map, const void* key) {
    FakeMap& fake = maps.at(map);
    return fake.values.erase(copy_of(key, fake.key_size)) == 1 ? 0 : -ENOENT;
}

long bpf_map_push_elem(void* map, const void* value, __u64 /*flags*/) {
    FakeMap& fake = maps.at(map);
    fake.queue.push_back(copy_of(value, fake.value_size));
    return 0;
}

long bpf_map_pop_elem(void* map, void* value) {
    FakeMap& fake = maps.at(map);
    if (fake.queue.empty()) return -ENOENT;
    std::memcpy(value, fake.queue.front().data(), fake.value_size);
    fake.queue.pop_front();
    return 0;
}

long bpf_probe_read_user(void* to, __u32 size, const void* from) {
    ++user_reads;
    const auto vaddr = reinterpret_cast<std::uint64_t>(from);
    auto region = user_memory.upper_bound(vaddr);
    std::memset(to, 0, size);
    if (region == user_memory.begin()) return -EFAULT;
    --region;
    const std::uint64_t offset = vaddr - region->first;
    if (offset > region->second.size() || size > region->second.size() - offset) return -EFAULT;
    std::memcpy(to, region->second.data() + offset, size);
    return 0;
}

// The first page holds nothing; all else that tests point at is real memory of this process.
long bpf_probe_read_kernel(void* to, __u32 size, const void* from) {
    if (reinterpret_cast<std::uint64_t>(from) < 4096) {
        std::memset(to, 0, size);
        return -EFAULT;
    }
    std::memcpy(to, from, size);
    return 0;
}

long bpf_probe_read_kernel_str(void* to, __u32 size, const void* from) {
    auto* const text = static_cast<char*>(to);
    const auto length = strnlen(static_cast<const char*>(from), size - 1);
    std::memcpy(text, from, length);
    text[length] = '\0';
    return static_cast<long>(length) + 1;
}

long bpf_ringbuf_output(void* ring, void* data, __u64 size, __u64 /*flags*/) {
    FakeMap& fake = maps.at(ring);
    if (size > fake.largest_record) return -EAGAIN;
    fake.records.push_back(copy_of(data, size));
    return 0;
}

__u64 bpf_ringbuf_query(void* ring, __u64 flags) {
    const FakeMap& fake = maps.at(ring);
    return flags == 1 ? fake.ring_bytes : fake.waiting_bytes;  // BPF_RB_RING_SIZE
}
__u64 bpf_ktime_get_ns(void) { return 1'000'000; }
__u64 bpf_get_current_pid_tgid(void) { return static_cast<__u64>(current_pid) << 32 | current_pid; }
__u64 bpf_get_current_cgroup_id(void) { return 1; }
__u32 bpf_get_smp_processor_id(void) { return 3; }

long bpf_get_current_comm(void* to, __u32 size) {
    std::memset(to, 0, size);
    std::memcpy(to, "host", 4);
    return 0;
}

__u64 bpf_get_current_task(void) { return reinterpret_cast<__u64>(current_task); }
struct task_struct* bpf_get_current_task_btf(void) {
    return static_cast<struct task_struct*>(current_task);
}
long bpf_task_pt_regs(struct task_struct* /*task*/) { return current_registers; }

long bpf_get_stack(void* /*ctx*/, void* to, __u32 size, __u64 /*flags*/) {
    const std::size_t bytes = std::min<std::size_t>(size, kernel_stack.size() * 8);
    if (bytes > 0) std::memcpy(to, kernel_stack.data(), bytes);
    return static_cast<long>(bytes);
}

long bpf_loop(__u32 turns, void* callback, void* context, __u64 /*flags*/) {
    const auto call = reinterpret_cast<long (*)(__u32, void*)>(callback);
    for (__u32 turn = 0; turn < turns; ++turn) {
        if (call(turn, context) != 0) return turn + 1;
    }
    return turns;
}

long bpf_find_vma(struct task_struct* /*task*/, __u64 /*address*/, void* /*callback*/,
                  void* /*context*/, __u64 /*flags*/) {
    return -ENOENT;
}
long bpf_tail_call(void* /*ctx*/, void* /*programs*/, __u32 /*index*/) { return -ENOENT; }

}  // extern "C"

void fake_kernel_reset() {
    for (const void* inner : inner_maps) maps.erase(inner);
    inner_maps.clear();
    for (auto& [place, map] : maps) {
        map.values.clear();
        map.queue.clear();
        map.records.clear();
        map.largest_record = ~std::uint64_t{0};
        map.waiting_bytes = 0;
    }
    user_memory.clear();
    kernel_stack.clear();
    user_reads = 0;
}

void fake_user_memory(std::uint64_t vaddr, std::span<const std::byte> bytes) {
    user_memory[vaddr] = Bytes(bytes.begin(), bytes.end());
}

void fake_user_memory_forget() { user_memory.clear(); }

const std::vector<std::vector<std::byte>>& fake_ring_records(void* ring) {
    return maps.at(ring).records;
}

void fake_ring_refuses(void* ring, bool refuses) {
    fake_ring_refuses_above(ring, refuses ? 0 : ~std::uint64_t{0});
}
void fake_ring_refuses_above(void* ring, std::uint64_t bytes) {
    maps.at(ring).largest_record = bytes;
}
std::uint64_t fake_ring_bytes(void* ring) { return maps.at(ring).ring_bytes; }
void fake_ring_waiting(void* ring, std::uint64_t bytes) { maps.at(ring).waiting_bytes = bytes; }
void fake_kernel_stack(std::vector<std::uint64_t> frames) { kernel_stack = std::move(frames); }
std::uint64_t fake_user_read_count() { return user_reads; }

void fake_write_pool(void* buckets, std::uint32_t first_word,
                     std::span<const std::uint32_t> words) {
    FakeMap& outer = maps.at(buckets);
    const std::uint64_t bucket_words = outer.value_size / 4;
    while (!words.empty()) {
        const auto bucket = static_cast<std::uint32_t>(first_word / bucket_words);
        const std::uint64_t at = first_word % bucket_words;
        const auto here = words.first(std::min<std::size_t>(words.size(), bucket_words - at));
        // The bytes found under the outer key serve as the inner map's address.
        Bytes& place =
            outer.values.try_emplace(copy_of(&bucket, sizeof(bucket)), Bytes(8)).first->second;
        FakeMap& inner = maps[place.data()];
        if (inner.value_size == 0) {
            inner_maps.push_back(place.data());
            inner.key_size = 4;
            inner.value_size = outer.value_size;
            inner.max_entries = 1;
        }
        Bytes& storage = inner.values.try_emplace(Bytes(4), Bytes(inner.value_size)).first->second;
        std::memcpy(storage.data() + at * 4, here.data(), here.size_bytes());
        words = words.subspan(here.size());
        first_word += static_cast<std::uint32_t>(here.size());
    }
}

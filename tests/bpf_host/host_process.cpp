// SPDX-License-Identifier: Apache-2.0
#include "host_process.h"

extern "C" {
void* bpf_map_lookup_elem(void* map, const void* key);
long bpf_map_update_elem(void* map, const void* key, const void* value, __u64 flags);
long bpf_map_push_elem(void* map, const void* value, __u64 flags);
}

namespace bobbin {

void HostProcess::push_free_id(__u32 id) { bpf_map_push_elem(host_map_free_ids(), &id, 0); }

void HostProcess::bpf_map_update(void* map, const void* key, const void* value) {
    ASSERT_EQ(bpf_map_update_elem(map, key, value, 0), 0);
}

void* HostProcess::bpf_map_lookup(void* map, const void* key) {
    return bpf_map_lookup_elem(map, key);
}

}  // namespace bobbin

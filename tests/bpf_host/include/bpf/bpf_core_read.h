/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOBBIN_HOST_BPF_CORE_READ_H
#define BOBBIN_HOST_BPF_CORE_READ_H

/* On the host every kernel struct is as core_types.h has it: the layout of the newest kernel. Reads
 * go through the same check of addresses as the helper they stand for. */

#include <bpf/bpf_helpers.h>

#define HOST_READ(place)                                                  \
    ({                                                                    \
        typeof(place) host_value = 0;                                     \
        bpf_probe_read_kernel(&host_value, sizeof(host_value), &(place)); \
        host_value;                                                       \
    })
#define HOST_READ_1(source, a) HOST_READ((source)->a)
#define HOST_READ_2(source, a, b) HOST_READ(HOST_READ((source)->a)->b)
#define HOST_READ_N(_1, _2, name, ...) name
#define BPF_CORE_READ(source, ...) \
    HOST_READ_N(__VA_ARGS__, HOST_READ_2, HOST_READ_1)(source, __VA_ARGS__)
#define BPF_CORE_READ_BITFIELD_PROBED(source, field) ((source)->field)

#define bpf_core_field_exists(...) 1
#define bpf_core_enum_value_exists(...) 1
#define bpf_core_field_offset(type, field) offsetof(type, field)
#define bpf_core_type_size(type) sizeof(type)

#endif

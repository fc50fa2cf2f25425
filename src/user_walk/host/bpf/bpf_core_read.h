/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOBBIN_USER_WALK_BPF_CORE_READ_H
#define BOBBIN_USER_WALK_BPF_CORE_READ_H

/* The few kernel structs that a walk looks into are its own here, laid out as core_types.h says. */

#include <bpf/bpf_helpers.h>

#define BPF_CORE_READ(source, field) ((source)->field)
#define bpf_core_field_exists(...) 1
#define bpf_core_enum_value_exists(...) 1
#define bpf_core_type_size(type) sizeof(type)

#endif

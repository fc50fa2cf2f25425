// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "symbolize/named_profile.h"

namespace bobbin::profile {

// When samples came: a label more, and a sample for each span of time instead of one.
enum class Times { kLeaveOut, kKeep };

// The profile as pprof's profile.proto, gzip-compressed; what `go tool pprof` reads.
// Sample types samples/count and cpu/nanoseconds; labels pid tid comm thread cpu cgroup unit
// container (those that are known), stack_end where a stack is not whole (walk_end_name.h).
// Format: proto/profile.proto.
Result<std::string> encode_pprof(const symbolize::NamedProfile& profile,
                                 Times times = Times::kLeaveOut);

// The profile before compression, for tests and for readers that compress themselves.
std::string encode_pprof_uncompressed(const symbolize::NamedProfile& profile,
                                      Times times = Times::kLeaveOut);

// One line a distinct stack, root first: "comm;main;f 42\n"; the process's name is the root frame,
// kernel functions end in _[k]. Sorted. Format: flame-graph tools' "folded" stacks.
std::string encode_folded(const symbolize::NamedProfile& profile);

}  // namespace bobbin::profile

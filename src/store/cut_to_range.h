// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/store.h"
#include "symbolize/named_profile.h"

namespace bobbin::store {

// Leaves of a profile what was sampled in the range, to the span of time: a span belongs to where
// it begins. Of a profile without times everything is left.
void cut_to_range(const Range& range, symbolize::NamedProfile& profile);

}  // namespace bobbin::store

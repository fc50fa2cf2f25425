// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "service/control.h"
#include "store/store.h"

namespace bobbin::service {

// The answers of /api/v1/, as JSON. Times are seconds since the epoch, null where there is none.

// What `bobbin ctl status` reads, too.
std::string status_json(const Status& status);
std::string segments_json(const std::vector<store::Segment>& segments);
std::string series_json(const store::Range& range, std::chrono::seconds step,
                        const std::vector<store::StoreReader::Series>& series);

}  // namespace bobbin::service

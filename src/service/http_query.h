// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/command_line.h"
#include "serve/http_message.h"
#include "store/store.h"
#include "store/where.h"

namespace bobbin::service {

// What a query asks for. Errors say what is wrong with which parameter, and are the asker's.

// since=-1h&until=now, as `bobbin query` reads them. Without `since`: of the last hour.
Result<store::Range> read_range(const serve::HttpFields& query, store::Time now);
// unit=nginx&where=comm="x"; `unit` may come often.
Result<store::Where> read_where(const serve::HttpFields& query);
// Of which samples a profile is asked for.
struct ProfileQuestion {
    store::Where where;
    std::optional<std::chrono::nanoseconds> last;  // up to now, the open segment too
    store::Range range;                            // without `last`: of the store
};
Result<ProfileQuestion> read_profile_question(const serve::HttpFields& query, store::Time now);
// 10, 1m30s, at most `longest`; without it `fallback`.
Result<std::chrono::nanoseconds> read_time(const serve::HttpFields& query, const char* name,
                                           std::chrono::nanoseconds fallback,
                                           std::chrono::nanoseconds longest);
Result<std::uint32_t> read_number(const serve::HttpFields& query, const char* name,
                                  std::uint32_t fallback, std::uint32_t most);
// by, top, sort, focus, ignore, hide, show-from: as the flags of `bobbin report`.
Result<cli::ReportCommand> read_report(const serve::HttpFields& query);

// Whether a page of another origin asks, by what browsers add to their requests (Fetch Metadata;
// RFC 6454 section 7). A link from elsewhere to /ui/ is followed, because it shows nothing to who
// has it.
bool is_from_elsewhere(const serve::HttpRequest& request);

}  // namespace bobbin::service

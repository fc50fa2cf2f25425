// SPDX-License-Identifier: Apache-2.0
#include "cli/push.h"

#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "cli/exit_status.h"
#include "cli/standard_output.h"
#include "cli/terminal_text.h"
#include "output/read_profile.h"
#include "push/back_end.h"
#include "push/send_request.h"

namespace bobbin::cli {

int run_push(const PushCommand& command) {
    const auto profile = output::read_profile(command.path);
    if (!profile) {
        return fail_with_message({"cannot read " + shell_quote(command.path),
                                  profile.error().message(), "file " + shell_quote(command.path)});
    }
    const std::string to = printable(push::describe(command.target));
    const auto requests = push::make_requests(command.target, *profile, command.labels);
    if (!requests) return fail_with_message({"cannot send to " + to, requests.error().message()});
    if (requests->empty()) {
        return fail_with_message({"nothing to send", "the profile has no samples"});
    }
    std::uint64_t byte_count = 0;
    for (const push::Request& request : *requests) {
        const auto attempt = push::send_request(command.target, request, {}, {});
        if (attempt.outcome != push::Attempt::Outcome::kTaken) {
            return fail_with_message(
                {"not taken by " + to, printable(attempt.why),
                 "curl -sS -o /dev/null -w '%{http_code}\\n' " + shell_quote(request.url)});
        }
        byte_count += request.body.size();
    }
    const std::string text = fmt::format("{} ({}, {} samples)\n", to, byte_size(byte_count),
                                         thousands(profile->sample_count));
    static_cast<void>(write_text(stderr, text));
    return kExitOk;
}

}  // namespace bobbin::cli

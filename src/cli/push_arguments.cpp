// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

#include "cli/push.h"
#include "cli/terminal_text.h"
#include "config/service_address.h"

namespace bobbin::cli {
namespace {

using Checked = tl::expected<void, UserError>;

class PushReader {
public:
    PushReader(const Verb& verb, const SplitArguments& arguments)
        : verb_(verb), arguments_(arguments) {}

    tl::expected<PushCommand, UserError> read() {
        PushCommand command;
        Checked read = read_file(command);
        if (read) read = read_target(command);
        if (read) read = read_labels(command);
        if (!read) return tl::unexpected(std::move(read).error());
        return command;
    }

private:
    [[nodiscard]] tl::unexpected<UserError> refuse(std::string what, std::string why) const {
        return tl::unexpected(usage_error(&verb_, std::move(what), std::move(why)));
    }

    Checked read_file(PushCommand& command) const {
        if (arguments_.rest.empty()) {
            return refuse("push needs a file", "- reads standard input");
        }
        if (arguments_.rest.size() > 1) {
            return refuse("push takes one file",
                          "it was also given " + shell_quote(arguments_.rest[1]));
        }
        command.path = arguments_.rest.front();
        return {};
    }

    Checked read_target(PushCommand& command) const {
        const std::string* const url = arguments_.last("to");
        if (url == nullptr) {
            return refuse("push needs --to URL", "such as --to pyroscope+http://localhost:4040");
        }
        auto target = push::parse_target(*url);
        if (!target) {
            return refuse(fmt::format("--to {}: not understood", shell_quote(*url)),
                          target.error().message());
        }
        const bool is_s3 = target->kind == push::Target::Kind::kS3;
        const std::string_view problem = config::problem_of_url(target->url, is_s3);
        if (!problem.empty()) {
            return refuse(fmt::format("--to {}: not a URL", shell_quote(*url)),
                          std::string(problem));
        }
        command.target = std::move(*target);
        const auto take = [&](std::string_view flag, std::string& to) {
            if (const std::string* const given = arguments_.last(flag)) to = *given;
        };
        take("bearer-file", command.target.bearer_file);
        take("region", command.target.region);
        take("credentials-file", command.target.credentials_file);
        for (const std::string_view flag : {"region", "credentials-file"}) {
            if (is_s3 || !arguments_.has(flag)) continue;
            return refuse(fmt::format("--{} is of S3", flag), "--to s3://bucket/prefix");
        }
        return {};
    }

    Checked read_labels(PushCommand& command) const {
        for (const std::string& given : arguments_.all("label")) {
            const std::size_t equals = given.find('=');
            const std::string name = given.substr(0, equals);
            const std::string_view problem = config::problem_of_label(name, {});
            if (equals == std::string::npos || !problem.empty()) {
                return refuse(fmt::format("--label {}: not a label", shell_quote(given)),
                              problem.empty() ? "labels are like host=web1" : std::string(problem));
            }
            command.labels[name] = given.substr(equals + 1);
        }
        return {};
    }

    const Verb& verb_;
    const SplitArguments& arguments_;
};

}  // namespace

tl::expected<PushCommand, UserError> read_push_arguments(const Verb& verb,
                                                         const SplitArguments& arguments) {
    return PushReader(verb, arguments).read();
}

}  // namespace bobbin::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

#include "cli/argument_reader.h"
#include "cli/push.h"
#include "config/service_address.h"

namespace bobbin::cli {
namespace {

push::Target read_target(ArgumentReader& reader) {
    const std::string url = reader.text("to");
    if (url.empty()) {
        reader.refuse("push needs --to URL", "such as --to pyroscope+http://localhost:4040");
    }
    auto parsed = push::parse_target(url);
    if (!parsed) {
        reader.refuse_value("to", url, "not understood", parsed.error().message());
        return {};
    }
    push::Target target = std::move(*parsed);
    const bool is_s3 = target.kind == push::Target::Kind::kS3;
    const std::string_view problem = config::problem_of_url(target.url, is_s3);
    if (!problem.empty()) reader.refuse_value("to", url, "not a URL", std::string(problem));
    target.bearer_file = reader.text("bearer-file", target.bearer_file);
    target.region = reader.text("region", target.region);
    target.credentials_file = reader.text("credentials-file", target.credentials_file);
    for (const std::string_view flag : {"region", "credentials-file"}) {
        if (is_s3 || !reader.has(flag)) continue;
        reader.refuse(fmt::format("--{} is of S3", flag), "--to s3://bucket/prefix");
    }
    return target;
}

push::Labels read_labels(ArgumentReader& reader) {
    push::Labels labels;
    for (const std::string& given : reader.arguments().all("label")) {
        const std::size_t equals = given.find('=');
        const std::string name = given.substr(0, equals);
        const std::string_view problem = config::problem_of_label(name, {});
        if (equals == std::string::npos || !problem.empty()) {
            reader.refuse_value(
                "label", given, "not a label",
                problem.empty() ? "labels are like host=web1" : std::string(problem));
            break;
        }
        labels[name] = given.substr(equals + 1);
    }
    return labels;
}

}  // namespace

tl::expected<PushCommand, UserError> read_push_arguments(const Verb& verb,
                                                         const SplitArguments& arguments) {
    ArgumentReader reader(verb, arguments);
    return reader.give(PushCommand{
        .path = reader.path(), .target = read_target(reader), .labels = read_labels(reader)});
}

}  // namespace bobbin::cli

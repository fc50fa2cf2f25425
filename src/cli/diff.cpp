// SPDX-License-Identifier: Apache-2.0
#include "cli/diff.h"

#include <string>
#include <utility>

#include "cli/exit_status.h"
#include "cli/report.h"
#include "cli/standard_output.h"
#include "output/output_file.h"
#include "output/read_profile.h"
#include "output/replace_file.h"
#include "profile/html.h"

namespace bobbin::cli {
namespace {

struct TwoProfiles {
    const symbolize::NamedProfile& base;
    const symbolize::NamedProfile& fresh;
};

Result<std::string> encode(const std::string& path, const DiffAnswer& answer,
                           const TwoProfiles& profiles) {
    if (path.ends_with(".json")) return to_json(answer);
    if (path.ends_with(".md")) return to_markdown(answer);
    return profile::encode_diff_html(profiles.base, profiles.fresh);
}

Result<> write_files(const DiffAnswer& answer, const TwoProfiles& profiles) {
    for (const std::string& path : answer.command.outputs) {
        BOBBIN_TRY(const std::string bytes, encode(path, answer, profiles));
        BOBBIN_TRY(output::ReplacementFile file, output::ReplacementFile::create(path));
        BOBBIN_CHECK(file.write(bytes));
        BOBBIN_CHECK(file.put_in_place(output::sudo_user()));
    }
    return {};
}

std::string encode_for_stdout(const DiffAnswer& answer) {
    switch (answer.command.style) {
        case DiffCommand::Style::kJson:
            return to_json(answer);
        case DiffCommand::Style::kMarkdown:
            return to_markdown(answer);
        case DiffCommand::Style::kText:
            break;
    }
    return to_text(answer);
}

}  // namespace

int answer_diff(const DiffCommand& command, const symbolize::NamedProfile& base,
                const symbolize::NamedProfile& fresh) {
    const auto diff = report::diff_profiles(base, fresh, command.options);
    if (!diff) {
        return fail_with_message({"cannot compare the profiles: " + diff.error().message(),
                                  "profiles with samples can be compared",
                                  "bobbin report " + command.path});
    }
    DiffAnswer answer{.command = command, .diff = *diff, .above = {}};
    if (command.fail_above) answer.above = report::functions_above(*diff, *command.fail_above);
    if (const Result<> written = write_files(answer, {base, fresh}); !written) {
        return fail_with_message(
            {written.error().message(), "the difference could not be written", "df -h ."});
    }
    const int status = cli::answer(encode_for_stdout(answer));
    if (status != kExitOk || answer.above.empty()) return status;
    return fail_with_message(explain_gate(answer));
}

int run_diff(const DiffCommand& command) {
    symbolize::NamedProfile base;
    symbolize::NamedProfile fresh;
    for (auto [path, profile] :
         {std::pair(&command.base_path, &base), std::pair(&command.path, &fresh)}) {
        auto read = output::read_profile(*path);
        if (!read) return fail_with_message(explain_profile_failure(read.error(), *path));
        *profile = std::move(*read);
    }
    return answer_diff(command, base, fresh);
}

}  // namespace bobbin::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/convert.h"

#include "cli/errors.h"
#include "cli/report.h"
#include "cli/terminal_text.h"
#include "output/read_profile.h"

namespace bobbin::cli {

int run_convert(const ConvertCommand& command) {
    const auto profile = output::read_profile(command.path, command.sample_type);
    if (!profile) {
        return fail_with_message(explain_profile_failure(profile.error(), command.path));
    }
    int status = kExitOk;
    for (const output::OutputFile& file : command.outputs) {
        const auto written = file.write(*profile, output::sudo_user());
        if (written) continue;
        print(UserError{"cannot write " + shell_quote(file.path()), written.error().message(),
                        "df -h " + shell_quote(file.path())});
        status = kExitFailure;
    }
    return status;
}

}  // namespace bobbin::cli

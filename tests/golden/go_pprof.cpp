// SPDX-License-Identifier: Apache-2.0
#include "golden/go_pprof.h"

#include <gtest/gtest.h>

#include "support/child_process.h"

namespace bobbin::test {

std::string run_go_pprof(const std::filesystem::path& home, const std::vector<std::string>& options,
                         const std::string& profile) {
    std::vector<std::string> arguments = {BOBBIN_PPROF};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(profile);
    const FinishedProcess pprof =
        run_process(arguments, {{"HOME", home.string()}, {"PPROF_TMPDIR", home.string()}});
    EXPECT_EQ(pprof.exit_status, 0) << pprof.standard_error;
    return pprof.standard_output;
}

}  // namespace bobbin::test

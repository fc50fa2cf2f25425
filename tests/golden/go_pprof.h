// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bobbin::test {

// What `go tool pprof OPTIONS PROFILE` prints; fails the test when it fails. It writes nothing
// outside of `home`.
std::string run_go_pprof(const std::filesystem::path& home, const std::vector<std::string>& options,
                         const std::string& profile);

}  // namespace bobbin::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "support/stacks.h"

namespace bobbin::test {

// A pprof file as `go tool pprof -raw` prints it: a reader that is not ours. Fails the test when
// pprof refuses the file.
ProfileText read_pprof(const std::filesystem::path& path);

// "comm;main;f 42": the first frame becomes the label "comm"; kernel frames end in _[k].
ProfileText read_folded(const std::filesystem::path& path);

std::string read_whole_file(const std::filesystem::path& path);

// Text of `go tool pprof OPTION FILE`; fails the test when it fails.
std::string run_pprof(std::string_view option, const std::filesystem::path& path);

}  // namespace bobbin::test

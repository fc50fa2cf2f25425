// SPDX-License-Identifier: Apache-2.0
#include "golden/go_addr2line.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/child_process.h"

namespace bobbin::test {
namespace {

// "FILE:LINE"; without a line it says "?:0" or ":-1".
GoPlace place_of(const std::string& function, const std::string& place) {
    const std::size_t colon = place.rfind(':');
    if (colon == std::string::npos) return {function, "", 0};
    const long line = std::stol(place.substr(colon + 1));
    if (line <= 0) return {function, "", 0};
    return {function, place.substr(0, colon), static_cast<std::uint32_t>(line)};
}

}  // namespace

std::vector<GoPlace> go_places(const std::string& program, const std::string& scratch_directory,
                               const std::vector<std::uint64_t>& addresses) {
    const std::string input = scratch_directory + "/addresses";
    std::ofstream stream(input);
    for (const std::uint64_t address : addresses) stream << fmt::format("{:#x}\n", address);
    stream.close();
    // Newer versions of Go build the tool when it is first used.
    const FinishedProcess finished = run_process(
        {"/bin/sh", "-c", "exec \"$0\" tool addr2line \"$1\" < \"$2\"", BOBBIN_GO, program, input},
        {{"GOCACHE", BOBBIN_FIXTURES_DIR "/go_cache"},
         {"GOPATH", BOBBIN_FIXTURES_DIR "/go_path"},
         {"GOENV", "off"},
         {"GOFLAGS", ""},
         {"GO111MODULE", "off"},
         {"GOTOOLCHAIN", "local"}});
    EXPECT_EQ(finished.exit_status, 0) << finished.standard_error;
    std::vector<GoPlace> places;
    std::istringstream lines(finished.standard_output);
    for (std::string function, place; std::getline(lines, function) && std::getline(lines, place);)
        places.push_back(place_of(function, place));
    return places;
}

}  // namespace bobbin::test

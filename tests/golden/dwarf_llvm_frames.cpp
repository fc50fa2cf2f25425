// SPDX-License-Identifier: Apache-2.0
#include "golden/dwarf_llvm_frames.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/child_process.h"

namespace bobbin::test {
namespace {

// "FILE:LINE:COLUMN"
OracleFrame frame_of(const std::string& function, const std::string& place) {
    const std::size_t column = place.rfind(':');
    const std::size_t line = place.rfind(':', column - 1);
    if (column == std::string::npos || line == std::string::npos) return {function, place, 0};
    return {function, place.substr(0, line),
            static_cast<std::uint32_t>(std::stoul(place.substr(line + 1, column - line - 1)))};
}

}  // namespace

std::vector<std::vector<OracleFrame>> llvm_frames(const std::string& program,
                                                  const std::string& scratch_directory,
                                                  const std::vector<std::uint64_t>& addresses) {
    const std::string input = scratch_directory + "/addresses";
    std::ofstream stream(input);
    for (const std::uint64_t address : addresses) stream << fmt::format("{:#x}\n", address);
    stream.close();
    const FinishedProcess finished =
        run_process({"/bin/sh", "-c", "exec \"$0\" --no-demangle --obj=\"$1\" < \"$2\"",
                     BOBBIN_LLVM_SYMBOLIZER, program, input});
    EXPECT_EQ(finished.exit_status, 0) << finished.standard_error;

    std::vector<std::vector<OracleFrame>> frames;
    std::vector<OracleFrame> at_address;
    std::istringstream lines(finished.standard_output);
    for (std::string function, place; std::getline(lines, function);) {
        if (function.empty()) {
            frames.push_back(std::move(at_address));
            at_address.clear();
        } else if (std::getline(lines, place)) {
            at_address.push_back(frame_of(function, place));
        }
    }
    return frames;
}

std::vector<std::uint64_t> text_addresses(const std::string& program) {
    const FinishedProcess readelf = run_process(
        {"/bin/sh", "-c", "readelf -SW \"$0\" | sed -n 's/.* \\.text  *PROGBITS//p'", program});
    std::uint64_t start = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::istringstream words(readelf.standard_output);
    words >> std::hex >> start >> offset >> size;
    EXPECT_GT(size, 0U) << readelf.standard_output;
    std::vector<std::uint64_t> addresses;
    for (std::uint64_t at = start; at < start + size; at += 3) addresses.push_back(at);
    return addresses;
}

}  // namespace bobbin::test

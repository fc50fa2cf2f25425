// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/expected_stacks.h"
#include "support/record_run.h"

namespace bobbin::test {

// Fixtures whose code has a colour: red_1 ... red_6 (fixtures/processes_chain.h).
std::string colour_of(const Frame& frame);  // empty: none of the chain's
bool has_colour(const Stack& stack, const std::string& colour);
// The chain, or a part of it, down to `outer`; or start-up and end of the program, down to _start.
bool is_whole_chain(const Stack& stack, const std::string& colour, const ExpectedStack& outer);

// sudo's variables would make the recorder start its command as the user who called it.
void stay_root();

// `bobbin record -F 499 -- COMMAND` as root even under sudo, and what has to hold for every
// recording: ticks are the sum of their outcomes, samples that of the ways in which stacks ended.
RecordedRun record_processes(const std::vector<std::string>& command);

// The same by a bobbin that may only do what is needed: without CAP_SYS_ADMIN, so without exec
// events and maps by number, and without CAP_SYS_NICE. The command may do no more.
RecordedRun record_processes_with_few_capabilities(const std::vector<std::string>& command);

// For scripts: $1 is the fixture's path, $2 a fresh directory.
RecordedRun record_script(const std::string& script, const std::string& fixture);

// Of all samples that have a user stack at least 99 % have all of it: the chain down to `outer`,
// or, before and after that runs, down to _start. At least `fewest` are of this colour, none of
// another.
void expect_one_colour(const std::vector<Stack>& stacks, const std::string& colour,
                       const ExpectedStack& outer = below_main(), std::uint64_t fewest = 300);

// The same by what the recording itself says of all processes it saw.
void expect_complete_stacks(const ProfileText& profile, double share, std::uint64_t fewest);

std::filesystem::path copy_fixture(const std::string& fixture, const std::filesystem::path& to);

// A line of /proc/sys that is raised for the object's life, where that is allowed.
class RaisedSetting {
public:
    RaisedSetting(std::filesystem::path path, std::uint64_t value);
    ~RaisedSetting();
    RaisedSetting(const RaisedSetting&) = delete;
    RaisedSetting& operator=(const RaisedSetting&) = delete;
    [[nodiscard]] std::uint64_t value() const;

private:
    std::filesystem::path path_;
    std::uint64_t before_ = 0;
};

// Lowered likewise; one that may be negative.
class LoweredSetting {
public:
    LoweredSetting(std::filesystem::path path, int value);
    ~LoweredSetting();
    LoweredSetting(const LoweredSetting&) = delete;
    LoweredSetting& operator=(const LoweredSetting&) = delete;

private:
    std::filesystem::path path_;
    int before_ = 0;
};

}  // namespace bobbin::test

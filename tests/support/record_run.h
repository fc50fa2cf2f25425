// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/stacks.h"
#include "support/temporary_directory.h"

namespace bobbin::test {

std::string program_path();                         // the bobbin that was built
std::string fixture_path(const std::string& name);  // tests/fixtures/fixtures.cmake
std::string comm_of(const std::string& program);    // as the kernel shortens it, 15 characters

// The counters of a run, from the profile's comment "accounting: ticks=812 emitted=812 ...".
std::map<std::string, std::uint64_t> accounting_of(const ProfileText& profile);

// ticks = sum of all outcomes of bpf_abi.h, and as many samples were emitted as the profile holds.
void expect_every_tick_accounted_for(const ProfileText& profile);

struct RecordedRun {
    FinishedProcess process;
    ProfileText profile;
};

// What `command` recorded, which has to succeed, into `output`; accounts have to agree.
RecordedRun recorded_by(const std::vector<std::string>& command,
                        const std::filesystem::path& output);

// `bobbin record OPTIONS -o DIRECTORY/profile.pb.gz -- COMMAND`, which has to succeed, and its
// profile, whose accounts have to agree. An empty command leaves the last part away.
RecordedRun record(const TemporaryDirectory& directory, const std::vector<std::string>& options,
                   const std::vector<std::string>& command);

}  // namespace bobbin::test

// SPDX-License-Identifier: Apache-2.0
#include "sampler/process_labels.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "sampler/bounded_map.h"
#include "support/temporary_directory.h"

namespace bobbin::sampler {
namespace {

namespace fs = std::filesystem;

TEST(BoundedMap, ForgetsWhatWasPutInFirst) {
    BoundedMap<int, std::string> map(2);
    map.put(1, "one");
    map.put(2, "two");
    map.put(1, "still one");
    map.put(3, "three");
    EXPECT_EQ(map.size(), 2U);
    EXPECT_EQ(map.find(1), nullptr);
    EXPECT_EQ(*map.find(2), "two");
    EXPECT_EQ(*map.find(3), "three");
}

// A folder stands for /proc.
class LabelsOfProcesses : public testing::Test {
protected:
    void run_process(std::uint32_t pid, const std::string& cgroup_text) const {
        fs::create_directories(proc_ / std::to_string(pid));
        std::ofstream(proc_ / std::to_string(pid) / "cgroup") << cgroup_text;
    }
    void end_process(std::uint32_t pid) const { fs::remove_all(proc_ / std::to_string(pid)); }

    static abi::sample_header sample_of(std::uint32_t pid, std::uint64_t start) {
        abi::sample_header header{};
        header.pid = pid;
        header.process_start_boot_ns = start;
        header.cgroup_id = 1;
        return header;
    }

    const test::TemporaryDirectory directory_;
    const fs::path proc_ = directory_.path();
};

TEST_F(LabelsOfProcesses, AreKeptWhenTheProcessIsGone) {
    ProcessLabelReader reader(proc_, std::nullopt);
    run_process(7, "0::/system.slice/a.service\n");
    reader.notice(sample_of(7, 100));
    end_process(7);
    reader.notice(sample_of(7, 100));
    EXPECT_EQ(reader.find(7, 100, 1).unit, "a.service");
}

TEST_F(LabelsOfProcesses, AreNotThoseOfTheNextProcessWithTheNumber) {
    ProcessLabelReader reader(proc_, std::nullopt);
    run_process(7, "0::/system.slice/a.service\n");
    reader.notice(sample_of(7, 100));
    run_process(7, "0::/system.slice/b.service\n");
    reader.notice(sample_of(7, 200));
    EXPECT_EQ(reader.find(7, 100, 1).unit, "a.service");
    EXPECT_EQ(reader.find(7, 200, 1).unit, "b.service");
    EXPECT_EQ(reader.find(8, 100, 1), ProcessLabels{});
}

TEST_F(LabelsOfProcesses, AreEmptyWhereNothingCouldBeRead) {
    ProcessLabelReader reader(proc_, std::nullopt);
    reader.notice(sample_of(7, 100));
    EXPECT_EQ(reader.find(7, 100, 1), ProcessLabels{});
}

}  // namespace
}  // namespace bobbin::sampler

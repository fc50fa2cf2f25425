// SPDX-License-Identifier: Apache-2.0
// Profiles that Go's own profiler wrote, as we read them and as `go tool pprof` does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "output/output_file.h"
#include "output/read_profile.h"
#include "support/child_process.h"
#include "support/profile_readers.h"
#include "support/temporary_directory.h"

namespace bobbin {
namespace {

using testing::HasSubstr;

// Of each stack of names, leaf first.
using Values = std::map<std::string, std::uint64_t>;

Values values_of(const symbolize::NamedProfile& profile) {
    Values values;
    for (const symbolize::NamedStack& stack : profile.stacks) {
        std::string key;
        for (const std::uint32_t location : stack.locations) {
            for (const symbolize::Line& line : profile.locations[location].lines)
                key += profile.functions[line.function].name + ";";
        }
        values[key] += stack.count;
    }
    return values;
}

Values values_of(const test::ProfileText& profile) {
    Values values;
    for (const test::Stack& stack : profile.stacks) {
        std::string key;
        for (const auto& frame : stack.frames) key += frame.function + ";";
        values[key] += stack.count;
    }
    return values;
}

class GoProfile : public testing::Test {
protected:
    void SetUp() override {
        const auto run = test::run_process({BOBBIN_GO_PROFILE, directory_.path().string()});
        ASSERT_EQ(run.exit_status, 0) << run.standard_error;
    }
    symbolize::NamedProfile read(const std::string& name, std::string_view value = {}) {
        auto profile = output::read_profile(directory_ / name, value);
        EXPECT_TRUE(profile) << profile.error().message();
        return profile ? std::move(*profile) : symbolize::NamedProfile{};
    }
    test::TemporaryDirectory directory_;
};

TEST_F(GoProfile, OfCpuTimeIsReadAsGoReadsIt) {
    const symbolize::NamedProfile profile = read("cpu.pprof");
    EXPECT_EQ(profile.value_type, (symbolize::ValueType{"cpu", "nanoseconds"}));
    EXPECT_GE(profile.sample_count, 20U);  // a second of CPU time at 100 Hz
    EXPECT_EQ(values_of(profile), values_of(test::read_pprof(directory_ / "cpu.pprof")));
    EXPECT_EQ(profile.period.count(), 10'000'000);
}

// 100 times 10000 bytes, which Go's allocator rounds up to a class of 10240.
TEST_F(GoProfile, OfTheHeapHasTheValueThatIsAskedFor) {
    const auto kept = [](const symbolize::NamedProfile& profile) {
        std::uint64_t sum = 0;
        for (const symbolize::NamedStack& stack : profile.stacks) {
            if (stack.locations.empty()) continue;
            const symbolize::Location& leaf = profile.locations[stack.locations.front()];
            const auto& function = profile.functions[leaf.lines.front().function];
            if (function.name == "main.keep") sum += stack.value;
        }
        return sum;
    };
    EXPECT_EQ(kept(read("heap.pprof", "inuse_objects")), 100U);
    EXPECT_GE(kept(read("heap.pprof", "inuse_space")), 100U * 10240);
    EXPECT_EQ(read("heap.pprof", "inuse_space").value_type.unit, "bytes");
    const auto wrong = output::read_profile(directory_ / "heap.pprof", "cpu");
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().message(),
                HasSubstr("there are: alloc_objects alloc_space inuse_objects inuse_space"));
}

TEST_F(GoProfile, ComesBackFromEveryFormatThatIsReadAndWritten) {
    const symbolize::NamedProfile profile = read("cpu.pprof");
    for (const char* name : {"x.pb.gz", "x.folded", "x.speedscope.json"}) {
        const auto file = output::OutputFile::prepare(directory_ / name);
        ASSERT_TRUE(file && file->write(profile, std::nullopt)) << name;
        std::uint64_t value = 0;
        for (const symbolize::NamedStack& stack : profile.stacks) value += stack.value;
        std::uint64_t again = 0;
        for (const symbolize::NamedStack& stack : read(name).stacks) again += stack.value;
        // Folded stacks have samples, of 10 ms each.
        EXPECT_EQ(again * (std::string(name) == "x.folded" ? 10'000'000U : 1U), value) << name;
    }
    EXPECT_EQ(values_of(test::read_pprof(directory_ / "x.pb.gz")), values_of(profile));
}

}  // namespace
}  // namespace bobbin

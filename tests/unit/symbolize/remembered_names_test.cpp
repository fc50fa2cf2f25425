// SPDX-License-Identifier: Apache-2.0
#include "symbolize/remembered_names.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace bobbin::symbolize {
namespace {

using testing::ElementsAre;
using Addresses = std::vector<std::uint64_t>;

// Sources that name each address by its number, and what they were asked for.
class RememberedNamesTest : public testing::Test {
protected:
    NameSources asked_sources() {
        NameSources sources;
        sources.name_executable = [this](const executable::Executable& executable,
                                         std::span<const std::uint64_t> addresses) {
            asked_.emplace_back(addresses.begin(), addresses.end());
            now_ += reading_takes_;
            NamesOfEach names;
            if (fails_) return names;
            for (const std::uint64_t address : addresses) {
                names.push_back({{fmt::format("f{}_{}", executable.id, address), {}, 0, {}}});
            }
            return names;
        };
        sources.read_code_map = [this](int, CodeMapKind, std::span<const std::uint64_t> addresses) {
            asked_.emplace_back(addresses.begin(), addresses.end());
            std::vector<NamedFrame> frames;
            for (const std::uint64_t address : addresses) {
                frames.push_back({fmt::format("jit{}", address), {}, 0, {}});
            }
            return frames;
        };
        sources.demangle = [this](std::span<const std::string> names) {
            demangled_.insert(demangled_.end(), names.begin(), names.end());
            return std::vector<std::string>(names.size(), "plain");
        };
        return sources;
    }

    std::vector<std::string> names(std::uint32_t id, const Addresses& addresses) {
        const executable::Executable executable{.id = id};
        std::vector<std::string> texts;
        for (const auto& of_address :
             remembered_.sources().name_executable(executable, addresses)) {
            texts.push_back(of_address.empty() ? "-" : of_address.front().system_name);
        }
        return texts;
    }

    bool fails_ = false;
    std::chrono::milliseconds reading_takes_{0};
    RememberedNames::Clock::time_point now_{std::chrono::hours{1}};
    std::vector<Addresses> asked_;
    std::vector<std::string> demangled_;
    RememberedNames remembered_{asked_sources(), [this] { return now_; }};
};

TEST_F(RememberedNamesTest, AsksOnlyForWhatIsNew) {
    EXPECT_THAT(names(1, {10, 20}), ElementsAre("f1_10", "f1_20"));
    EXPECT_THAT(names(1, {10, 15, 20}), ElementsAre("f1_10", "f1_15", "f1_20"));
    EXPECT_THAT(names(1, {10, 15}), ElementsAre("f1_10", "f1_15"));
    EXPECT_THAT(asked_, ElementsAre(Addresses{10, 20}, Addresses{15}));
}

TEST_F(RememberedNamesTest, TellsFilesApart) {
    EXPECT_THAT(names(1, {10}), ElementsAre("f1_10"));
    EXPECT_THAT(names(2, {10}), ElementsAre("f2_10"));
}

// A source that fails for good would be asked each second.
TEST_F(RememberedNamesTest, LetsASourceRestThatFailed) {
    fails_ = true;
    EXPECT_THAT(names(1, {10}), ElementsAre("-"));
    fails_ = false;
    EXPECT_THAT(names(1, {10}), ElementsAre("-"));
    EXPECT_THAT(asked_, ElementsAre(Addresses{10}));
    EXPECT_THAT(names(2, {10}), ElementsAre("f2_10")) << "another file is named";
    now_ += RememberedNames::kRestOfFailed;
    EXPECT_THAT(names(1, {10}), ElementsAre("f1_10"));
}

// 100 ms of 5.1 s: 2 %.
TEST_F(RememberedNamesTest, LetsASlowSourceRest) {
    reading_takes_ = std::chrono::milliseconds{100};
    EXPECT_THAT(names(1, {10}), ElementsAre("f1_10"));
    now_ += std::chrono::milliseconds{4999};
    EXPECT_THAT(names(1, {10, 20}), ElementsAre("f1_10", "-"));
    now_ += std::chrono::milliseconds{1};
    EXPECT_THAT(names(1, {10, 20}), ElementsAre("f1_10", "f1_20"));
}

TEST_F(RememberedNamesTest, AsksAgainForGeneratedCodeInTime) {
    const UniqueFd map(::memfd_create("map", MFD_CLOEXEC));
    const auto read = remembered_.sources().read_code_map;
    const Addresses address{5};
    read(map.get(), CodeMapKind::kPerfMap, address);
    now_ += RememberedNames::kGeneratedLifetime - std::chrono::seconds{1};
    read(map.get(), CodeMapKind::kPerfMap, address);
    EXPECT_THAT(asked_, ElementsAre(address));
    now_ += std::chrono::seconds{1};
    read(map.get(), CodeMapKind::kPerfMap, address);
    EXPECT_THAT(asked_, ElementsAre(address, address));
}

TEST_F(RememberedNamesTest, StaysBoundedAndNamesOn) {
    for (std::uint64_t address = 0; address < 3 * RememberedNames::kMaxAddresses; address += 4096) {
        Addresses many;
        for (std::uint64_t i = 0; i < 4096; ++i) many.push_back(address + i);
        names(1, many);
    }
    asked_.clear();
    EXPECT_THAT(names(1, {0}), ElementsAre("f1_0"));
    EXPECT_THAT(asked_, ElementsAre(Addresses{0})) << "forgotten meanwhile";
}

TEST_F(RememberedNamesTest, KnowsACodeMapWhateverItsDescriptor) {
    const UniqueFd map(::memfd_create("map", MFD_CLOEXEC));
    const UniqueFd same(::dup(map.get()));
    const UniqueFd other(::memfd_create("map", MFD_CLOEXEC));
    const auto read = remembered_.sources().read_code_map;
    const Addresses address{5};
    EXPECT_EQ(read(map.get(), CodeMapKind::kPerfMap, address).at(0).system_name, "jit5");
    EXPECT_EQ(read(same.get(), CodeMapKind::kPerfMap, address).at(0).system_name, "jit5");
    EXPECT_THAT(asked_, ElementsAre(address));
    read(other.get(), CodeMapKind::kPerfMap, address);
    read(map.get(), CodeMapKind::kJitdump, address);
    EXPECT_THAT(asked_, ElementsAre(address, address, address));
}

TEST_F(RememberedNamesTest, DemanglesANameOnce) {
    const auto demangle = remembered_.sources().demangle;
    const std::vector<std::string> first{"_Z1av"};
    const std::vector<std::string> second{"_Z1bv", "_Z1av"};
    EXPECT_THAT(demangle(first), ElementsAre("plain"));
    EXPECT_THAT(demangle(second), ElementsAre("plain", "plain"));
    EXPECT_THAT(demangled_, ElementsAre("_Z1av", "_Z1bv"));
}

}  // namespace
}  // namespace bobbin::symbolize

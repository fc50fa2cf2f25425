// SPDX-License-Identifier: Apache-2.0
#include "luajit/find_vm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "unit/luajit/built_vm.h"

namespace bobbin::luajit {
namespace {

using test::BuiltVm;
using test::problem_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kPage = 0x1000;

// A file of nothing but code, of which a segment shows all from kPage on.
class CodeFile {
public:
    explicit CodeFile(std::span<const std::byte> code) : fd_(::memfd_create("code", MFD_CLOEXEC)) {
        EXPECT_EQ(::pwrite(fd_.get(), code.data(), code.size(), 0),
                  static_cast<ssize_t>(code.size()));
        segments_ = {{0, code.size(), kPage, code.size(), true}};
    }
    [[nodiscard]] Result<std::optional<VmLayout>> find(SearchLimits limits = {}) const {
        return find_vm(*elf::FileBytes::of_fd(fd_.get()), segments_, {}, limits);
    }
    std::vector<elf::LoadSegment>& segments() { return segments_; }

private:
    UniqueFd fd_;
    std::vector<elf::LoadSegment> segments_;
};

std::vector<std::byte> code_of_vm() { return BuiltVm({}).text().bytes; }

TEST(FindVm, FindsNoneInOtherCode) {
    const CodeFile file(std::vector<std::byte>(3 << 20, std::byte{0x90}));
    const auto found = file.find();
    ASSERT_EQ(problem_of(found), "");
    EXPECT_FALSE(found->has_value());
}

// lj_vm_call then lies across the seam of what is read at once, at each of its bytes.
TEST(FindVm, FindsItAcrossTheSeamsOfItsWindows) {
    const BuiltVm vm({});
    const std::vector<std::byte> code = vm.text().bytes;
    const auto call = static_cast<std::size_t>(vm.labels().at("call_linked") -
                                               static_cast<std::int64_t>(vm.text().file_vaddr));
    constexpr std::size_t kMebibyte = 1 << 20;
    constexpr std::size_t kFewBytes = 64;
    for (std::size_t shift = 0; shift < kFewBytes; ++shift) {
        std::vector<std::byte> image(kMebibyte - call + shift, std::byte{0x90});
        image.insert(image.end(), code.begin(), code.end());
        const auto found = CodeFile(image).find();
        ASSERT_EQ(problem_of(found), "") << shift;
        ASSERT_TRUE(found->has_value()) << shift;
        EXPECT_EQ((*found)->places.call_linked_file_vaddr, kPage + kMebibyte + shift);
    }
}

TEST(FindVm, RefusesSeveral) {
    std::vector<std::byte> image = code_of_vm();
    const std::vector<std::byte> other = image;
    image.resize(4 * kMaxAssemblyBytes);
    image.insert(image.end(), other.begin(), other.end());
    EXPECT_THAT(problem_of(CodeFile(image).find()), HasSubstr("several LuaJIT VMs"));
}

// LuaJIT 2.0 enters its VM the same way, and goes on otherwise.
TEST(FindVm, RefusesABuildThatOnlyBeginsLikeOne) {
    std::vector<std::byte> image = code_of_vm();
    const BuiltVm vm({});
    const auto linked = static_cast<std::size_t>(vm.labels().at("call_linked") -
                                                 static_cast<std::int64_t>(vm.text().file_vaddr));
    image[linked] = std::byte{0x90};
    EXPECT_THAT(problem_of(CodeFile(image).find()), HasSubstr("vm_call is there 0 times"));
}

TEST(FindVm, StopsAtItsLimits) {
    const CodeFile file(std::vector<std::byte>(3 << 20, std::byte{0x90}));
    EXPECT_THAT(problem_of(file.find({.code_bytes = 2 << 20})), HasSubstr("too much code"));
    EXPECT_THAT(problem_of(file.find({.deadline = std::chrono::steady_clock::time_point::min()})),
                HasSubstr("takes too long"));
}

TEST(FindVm, LooksOnlyIntoExecutableSegments) {
    CodeFile file(code_of_vm());
    file.segments().front().executable = false;
    EXPECT_FALSE(file.find().value().has_value());
}

// Program headers of a hostile file: nothing of them was compared with its size.
TEST(FindVm, SurvivesSegmentsThatLeaveTheFile) {
    constexpr std::uint64_t kLast = ~std::uint64_t{0};
    for (const elf::LoadSegment& segment : {elf::LoadSegment{0, kLast, 0, kLast, true},
                                            {kLast, kPage, kPage, kPage, true},
                                            {0, kPage << 20, kPage, kPage << 20, true},
                                            {kLast, kLast, kLast - kPage, kLast, true}}) {
        CodeFile file(code_of_vm());
        file.segments() = {segment};
        EXPECT_NE(problem_of(file.find()), "") << segment.file_vaddr;
    }
    CodeFile file(code_of_vm());
    file.segments() = {{kPage, 0, 0, kLast, true},
                       {kLast, 0, kLast, 0, true},
                       {0, kLast, kLast - kPage, kLast, true},
                       {kLast - 1, kLast, kLast, kLast, true}};
    EXPECT_EQ(problem_of(file.find()), "");
}

// A row of `size_bytes` with `rule` among those of functions.
cfi::UnwindRows rows_with(const cfi::UnwindRule& rule, std::uint32_t size_bytes) {
    cfi::UnwindRule other;
    other.cfa = cfi::CfaKind::kRegisterOffset;
    other.cfa_register = cfi::kRsp;
    other.cfa_offset = 8;
    return {kPage, {{0, 1}, {0x100, 2}, {0x100 + size_bytes, 1}, {0x100000, 0}}, {{}, other, rule}};
}

cfi::UnwindRule interpreter_rule(std::int32_t cfa_offset) {
    cfi::UnwindRule rule;
    rule.cfa = cfi::CfaKind::kRegisterOffset;
    rule.cfa_register = cfi::kRsp;
    rule.cfa_offset = cfa_offset;
    rule.rbp = cfi::RbpKind::kAtCfa;
    rule.rbp_offset = -16;
    rule.ra_offset = -8;
    return rule;
}

TEST(LikelyPlaces, AreLongRowsOfAnInterpreter) {
    constexpr std::uint64_t kEnd = kPage + 0x100000;
    const VaddrRange behind{kEnd, ~std::uint64_t{0}};
    const VaddrRange row{kPage + 0x100, kPage + 0x100 + 0x4000};
    EXPECT_THAT(likely_places(rows_with(interpreter_rule(80), 0x4000)), ElementsAre(row, behind));
    EXPECT_THAT(likely_places(rows_with(interpreter_rule(96), 0x4000)), ElementsAre(row, behind));
    EXPECT_THAT(likely_places(rows_with(interpreter_rule(88), 0x4000)), ElementsAre(behind));
    EXPECT_THAT(likely_places(rows_with(interpreter_rule(80), 0x1000)), ElementsAre(behind));
    EXPECT_THAT(likely_places(rows_with({}, 0x4000)), ElementsAre(row, behind));
}

TEST(LikelyPlaces, AreEverywhereWithoutUnwindInformation) {
    EXPECT_THAT(likely_places({}), ElementsAre(VaddrRange{0, ~std::uint64_t{0}}));
}

TEST(FindVm, DoesNotReadCodeThatUnwindInformationRulesOut) {
    const UniqueFd empty(::memfd_create("empty", MFD_CLOEXEC));
    const auto file = *elf::FileBytes::of_fd(empty.get());
    const std::vector<elf::LoadSegment> segments{{0, kPage << 4, kPage, kPage << 4, true}};
    EXPECT_NE(problem_of(find_vm(file, segments, rows_with(interpreter_rule(80), 0x4000))), "");
    EXPECT_EQ(problem_of(find_vm(file, segments, rows_with(interpreter_rule(88), 0x4000))), "");
}

}  // namespace
}  // namespace bobbin::luajit

// SPDX-License-Identifier: Apache-2.0
// The code is what Debian 12's crti.o and crtn.o are linked to, as objdump shows it.
#include "executable/start_code_rows.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bobbin::executable {
namespace {

using Bytes = std::vector<std::uint8_t>;

const Bytes kEndbr64{0xf3, 0x0f, 0x1e, 0xfa};
const Bytes kBegin{0x48, 0x83, 0xec, 0x08};                        // sub $8,%rsp
const Bytes kEnd{0x48, 0x83, 0xc4, 0x08, 0xc3};                    // add $8,%rsp; ret
const Bytes kGmonStart{0x48, 0x8b, 0x05, 0xa5, 0xef, 0x0c, 0x00,   // mov 0xcefa5(%rip),%rax
                       0x48, 0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0};  // test, je, call *%rax
const Bytes kCall{0xe8, 1, 2, 3, 4};
const Bytes kPushRbx{0x53};

std::vector<std::byte> join(const std::vector<Bytes>& parts) {
    std::vector<std::byte> all;
    for (const Bytes& part : parts) {
        for (const std::uint8_t byte : part) all.push_back(std::byte{byte});
    }
    return all;
}

TEST(StartCodeFrame, KnowsTheStartFilesCode) {
    EXPECT_EQ(start_code_frame(join({kBegin, kGmonStart, kEnd})), 4U);
    EXPECT_EQ(start_code_frame(join({kEndbr64, kBegin, kGmonStart, kEnd})), 8U);
    EXPECT_EQ(start_code_frame(join({kBegin, kGmonStart, kCall, kCall, kEnd})), 4U);
    EXPECT_EQ(start_code_frame(join({kBegin, kEnd})), 4U) << ".fini";
}

TEST(StartCodeFrame, TakesNoOtherCodeForIt) {
    EXPECT_EQ(start_code_frame({}), std::nullopt);
    EXPECT_EQ(start_code_frame(join({kEndbr64})), std::nullopt);
    EXPECT_EQ(start_code_frame(join({kGmonStart, kEnd})), std::nullopt);
    EXPECT_EQ(start_code_frame(join({kBegin, kPushRbx, kEnd})), std::nullopt) << "moves rsp";
    EXPECT_EQ(start_code_frame(join({kBegin, kEnd, kCall})), std::nullopt) << "goes on";
    const auto whole = join({kBegin, kGmonStart, kEnd});
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        EXPECT_EQ(start_code_frame(std::span(whole).first(bytes)), std::nullopt) << bytes;
    }
}

std::int32_t cfa_offset_at(const cfi::UnwindRows& unwind, std::uint64_t file_vaddr) {
    cfi::UnwindRule rule;
    for (const cfi::UnwindRow& row : unwind.rows) {
        if (unwind.file_vaddr(row) <= file_vaddr) rule = unwind.rule_of(row);
    }
    EXPECT_TRUE(rule.cfa == cfi::CfaKind::kNoCfi || rule.cfa_register == cfi::kRsp);
    return rule.cfa_offset;
}

// .init: 4 + 14 + 5 bytes at 0x1000, .fini: 4 + 5 at 0x9004.
TEST(ReadStartCodeRows, FollowsTheEightBytesBetweenSubAndRet) {
    const elf::SectionBytes init{join({kBegin, kGmonStart, kEnd}), 0x1000};
    const elf::SectionBytes fini{join({kBegin, kEnd}), 0x9004};
    const cfi::UnwindRows unwind = read_start_code_rows(init, fini);
    EXPECT_EQ(cfa_offset_at(unwind, 0x1000), 8);
    EXPECT_EQ(cfa_offset_at(unwind, 0x1003), 8);
    EXPECT_EQ(cfa_offset_at(unwind, 0x1004), 16);
    EXPECT_EQ(cfa_offset_at(unwind, 0x1012), 16) << "add";
    EXPECT_EQ(cfa_offset_at(unwind, 0x1016), 8) << "ret";
    EXPECT_EQ(cfa_offset_at(unwind, 0x1017), 0) << "nothing is known of what follows";
    EXPECT_EQ(cfa_offset_at(unwind, 0x9004), 8);
    EXPECT_EQ(cfa_offset_at(unwind, 0x9008), 16);
    EXPECT_EQ(cfa_offset_at(unwind, 0x900c), 8);
    EXPECT_EQ(cfa_offset_at(unwind, 0x900d), 0);
}

TEST(ReadStartCodeRows, HasNoneForOtherCodeOrNone) {
    const elf::SectionBytes other{join({kPushRbx, kEnd}), 0x1000};
    EXPECT_TRUE(read_start_code_rows(other, std::nullopt).rows.empty());
    EXPECT_TRUE(read_start_code_rows(std::nullopt, std::nullopt).rows.empty());
}

}  // namespace
}  // namespace bobbin::executable

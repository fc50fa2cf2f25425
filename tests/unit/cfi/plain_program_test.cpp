// SPDX-License-Identifier: Apache-2.0
#include "cfi/plain_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "cfi/cfa_program.h"
#include "unit/cfi/one_function.h"

namespace bobbin::cfi {
namespace {

using test::Bytes;
using test::kLength;
using test::kStart;
using test::Rows;
using test::with_cfa;

// One function read by either interpreter, with the bytes behind it that may be looked at.
class Subject {
public:
    explicit Subject(const Bytes& instructions, std::uint64_t length = kLength)
        : bytes_(instructions), length_(length) {
        for (std::size_t i = 0; i < PlainProgram::kReadAheadBytes; ++i) bytes_.u8(0x0b);
        cie_.data_alignment = -8;
        cie_.initial_instructions = test::kAtEntry.view();
        EXPECT_TRUE(program_.run_initial(cie_));
    }

    // nullopt: not plain.
    std::optional<Rows> run_plain() {
        RowWriter rows(kStart, 0);
        if (!plain_.run(cie_, function(), rows)) return std::nullopt;
        return take(rows);
    }
    // nullopt: malformed.
    std::optional<Rows> run_whole() {
        RowWriter rows(kStart, 0);
        if (!program_.run(cie_, function(), rows)) return std::nullopt;
        return take(rows);
    }

private:
    [[nodiscard]] CfaProgram::Function function() const {
        const std::size_t size = bytes_.size() - PlainProgram::kReadAheadBytes;
        return {.instructions = bytes_.view().first(size),
                .start_file_vaddr = kStart,
                .end_file_vaddr = kStart + length_,
                .first_file_vaddr = kStart};
    }
    Rows take(RowWriter& writer) const {
        Rows rows;
        for (const UnwindRow& row : writer.take()) {
            rows.emplace_back(kStart + row.vaddr_from_base, rules_[row.rule]);
        }
        return rows;
    }

    Bytes bytes_;
    std::uint64_t length_;
    RuleSet rules_;
    CfaProgram program_{rules_};
    PlainProgram plain_{rules_};
    Cie cie_;
};

// push rbp; mov rbp,rsp; ...; pop rbp; ret, as clang describes it.
TEST(PlainProgram, FollowsAFramePointer) {
    Subject subject({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x50, 0x0c, 7, 8, 0, 0, 0});
    UnwindRule pushed = with_cfa(kRsp, 16);
    pushed.rbp = RbpKind::kAtCfa;
    pushed.rbp_offset = -16;
    UnwindRule framed = pushed;
    framed.cfa_register = kRbp;
    UnwindRule popped = pushed;  // nothing restores rbp
    popped.cfa_offset = 8;
    EXPECT_EQ(subject.run_plain(), (Rows{{kStart, test::rule_at_entry()},
                                         {kStart + 1, pushed},
                                         {kStart + 4, framed},
                                         {kStart + 0x54, popped},
                                         {kStart + kLength, UnwindRule{}}}));
}

TEST(PlainProgram, TakesLargeFramesThatHaveNoPlaceInTheTable) {
    Subject subject(Bytes{0x41, 0x0e}.uleb128(4096).u8(0x42).u8(0x0e).uleb128(12));
    EXPECT_EQ(subject.run_plain(), (Rows{{kStart, test::rule_at_entry()},
                                         {kStart + 1, with_cfa(kRsp, 4096)},
                                         {kStart + 3, with_cfa(kRsp, 12)},
                                         {kStart + kLength, UnwindRule{}}}));
}

TEST(PlainProgram, LeavesTheRestToTheOther) {
    EXPECT_EQ(Subject({0x0c, 10, 0}).run_plain(), std::nullopt);          // CFA by r10
    EXPECT_EQ(Subject({0x90, 2}).run_plain(), std::nullopt);              // ra at cfa - 16
    EXPECT_EQ(Subject({0x86, 8}).run_plain(), std::nullopt);              // rbp at cfa - 64
    EXPECT_EQ(Subject({0x0f, 2, 0x77, 8}).run_plain(), std::nullopt);     // an expression
    EXPECT_EQ(Subject({0x0b}).run_plain(), std::nullopt);                 // nothing remembered
    EXPECT_EQ(Subject({0x41, 0x0e}).run_plain(), std::nullopt);           // cut off
    EXPECT_EQ(Subject({0x41}).run_plain()->size(), 2U);                   // not cut off
    EXPECT_EQ(Subject({0x0e, 0x80, 0x80, 1}).run_plain(), std::nullopt);  // three bytes long
}

// Instructions that compilers write, among them some that they do not, with small operands.
Bytes make_instructions(std::mt19937& random) {
    const auto below = [&](unsigned limit) { return static_cast<int>(random() % limit); };
    const auto operand = [&] { return below(4) == 0 ? 128 + below(128) : 8 * below(16); };
    Bytes bytes;
    for (int i = below(24); i > 0; --i) {
        switch (below(12)) {
            case 0:
            case 1:
            case 2:
                bytes.u8(0x40 | below(8)).u8(0x0e).u8(operand());
                break;
            case 3:
                bytes.u8(0x80 | below(17)).u8(below(9));
                break;
            case 4:
                bytes.u8(0xc0 | below(17));
                break;
            case 5:
                bytes.u8(0x40 | below(64));
                break;
            case 6:
                bytes.u8(2).u8(below(100));
                break;
            case 7:
                bytes.u8(0x0d).u8(below(50) == 0 ? 10 : 6 + below(2));
                break;
            case 8:
                bytes.u8(0x0c).u8(6 + below(2)).u8(operand());
                break;
            case 9:
                bytes.u8(0x0a);
                break;
            case 10:
                bytes.u8(below(8) == 0 ? below(48) : 0x0b);
                break;
            default:
                bytes.u8(0x2e).u8(operand());
                break;
        }
    }
    for (int i = below(8); i > 0; --i) bytes.u8(0);
    return bytes;
}

// That one is held against libdw and readelf.
TEST(PlainProgram, GivesTheRowsOfTheWholeInterpreter) {
    constexpr int kFunctions = 20000;
    constexpr int kFewestPlain = kFunctions / 10;
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same functions each time
    int plain_count = 0;
    for (int i = 0; i < kFunctions; ++i) {
        const Bytes instructions = make_instructions(random);
        Subject subject(instructions, 1 + random() % 300);
        const std::optional<Rows> plain = subject.run_plain();
        if (!plain) continue;
        ++plain_count;
        ASSERT_EQ(plain, subject.run_whole()) << testing::PrintToString(instructions.view());
    }
    EXPECT_GT(plain_count, kFewestPlain);
}

TEST(PlainRule, IsTheRuleItWasMadeOf) {
    for (const std::uint8_t cfa_register : {kRsp, kRbp}) {
        for (const std::int32_t offset : {0, 8, 12, 2040, 2048, 0x7fffffff}) {
            for (std::int32_t slot = 0; slot < 8; ++slot) {
                UnwindRule rule = with_cfa(cfa_register, offset);
                rule.rbp = slot == 0 ? RbpKind::kSame : RbpKind::kAtCfa;
                rule.rbp_offset = -8 * slot;
                const std::optional<PlainRule> plain = PlainRule::of(rule);
                ASSERT_TRUE(plain);
                EXPECT_EQ(plain->to_rule(), rule);
                EXPECT_EQ(plain->has_index(), offset % 8 == 0 && offset < 2048);
            }
        }
    }
}

TEST(PlainRule, HasAnIndexOfItsOwn) {
    std::vector<int> uses(PlainRule::kIndexes);
    for (const std::uint8_t cfa_register : {kRsp, kRbp}) {
        for (std::int32_t offset = 0; offset < 2048; offset += 8) {
            for (std::uint32_t slot = 0; slot < PlainRule::kRbpSlots; ++slot) {
                PlainRule rule;
                rule.set_cfa(cfa_register, static_cast<std::uint64_t>(offset));
                rule.set_rbp_slot(slot);
                ASSERT_LT(rule.index(), uses.size());
                ++uses[rule.index()];
            }
        }
    }
    EXPECT_EQ(std::ranges::count(uses, 1), static_cast<std::ptrdiff_t>(uses.size()));
}

TEST(PlainRule, HasNoOtherShape) {
    std::vector<UnwindRule> rules(12, test::rule_at_entry());
    rules[0].cfa = CfaKind::kDerefRegister;
    rules[1].cfa_register = 10;
    rules[2].rbp = RbpKind::kAtRbp;
    rules[3].return_address = ReturnAddressKind::kUndefined;
    rules[4].signal_frame = true;
    rules[5].changes_stack = true;
    rules[6].cfa_offset = -8;
    rules[7].rbp = RbpKind::kAtCfa;
    rules[7].rbp_offset = 8;
    rules[8].rbp = RbpKind::kAtCfa;
    rules[8].rbp_offset = -64;
    rules[9].ra_offset = -16;
    rules[10].rbp = RbpKind::kAtCfa;
    rules[10].rbp_offset = -12;
    rules[11].enters_landing_pad = true;
    for (const UnwindRule& rule : rules) EXPECT_EQ(PlainRule::of(rule), std::nullopt);
    EXPECT_EQ(PlainRule::of(UnwindRule{}), std::nullopt);
}

}  // namespace
}  // namespace bobbin::cfi

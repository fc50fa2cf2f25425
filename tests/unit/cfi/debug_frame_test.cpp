// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "cfi/eh_frame.h"
#include "unit/cfi/one_function.h"
#include "unit/cfi/section_builder.h"

namespace bobbin::cfi {
namespace {

using test::Bytes;
using test::kAtEntry;
using test::Rows;
using test::rows_of;
using test::rule_at_entry;
using test::with_cfa;

const UnwindRule kNoCfi;

enum class Width { k32, k64 };

// A .debug_frame by hand, DWARF 5 section 6.4.1 and, for the widths, 7.4.
class DebugFrameBuilder {
public:
    explicit DebugFrameBuilder(Width width = Width::k32) : width_(width) {}

    std::uint64_t add_cie(int version = 4, std::string_view augmentation = "") {
        Bytes body;
        offset(body, ~std::uint64_t{0}).u8(version).text(augmentation);
        if (version == 4) body.u8(8).u8(0);
        body.uleb128(1).sleb128(-8).uleb128(16);
        return add_entry(body.append(kAtEntry));
    }
    std::uint64_t add_fde(std::uint64_t cie_offset, std::uint64_t start, std::uint64_t length,
                          const Bytes& instructions = {}) {
        Bytes body;
        offset(body, cie_offset).u64(start).u64(length).append(instructions);
        return add_entry(body);
    }
    std::uint64_t add_entry(const Bytes& body) {
        const std::uint64_t at = section_.size();
        if (width_ == Width::k64) section_.u32(0xffffffff);
        offset(section_, body.size()).append(body);
        return at;
    }
    Bytes& bytes() { return section_; }

    [[nodiscard]] Result<EhFrame> read() const { return read_debug_frame(section_.view()); }

private:
    Bytes& offset(Bytes& bytes, std::uint64_t value) const {
        return width_ == Width::k32 ? bytes.u32(value) : bytes.u64(value);
    }

    Width width_;
    Bytes section_;
};

EhFrame read(const DebugFrameBuilder& section) {
    Result<EhFrame> frame = section.read();
    EXPECT_TRUE(frame.has_value()) << frame.error().message();
    return frame ? std::move(*frame) : EhFrame{};
}

std::string error_of(const DebugFrameBuilder& section) {
    const Result<EhFrame> frame = section.read();
    return frame ? "" : frame.error().message();
}

TEST(ReadDebugFrame, ReadsEveryVersionInBothWidths) {
    for (const Width width : {Width::k32, Width::k64}) {
        for (const int version : {1, 3, 4}) {
            DebugFrameBuilder section(width);
            const std::uint64_t cie = section.add_cie(version);
            section.add_fde(cie, 0x401000, 0x10, {0x44, 0x0e, 24});
            const EhFrame frame = read(section);
            EXPECT_EQ(rows_of(frame), (Rows{{0x401000, rule_at_entry()},
                                            {0x401004, with_cfa(kRsp, 24)},
                                            {0x401010, kNoCfi}}))
                << version;
            EXPECT_EQ(frame.stopped, "");
        }
    }
}

TEST(ReadDebugFrame, TakesTheCieThatTheOffsetNames) {
    DebugFrameBuilder section;
    section.add_cie();
    const std::uint64_t second = section.add_cie(4, "S");
    ASSERT_NE(second, 0U);
    section.add_fde(second, 0x1000, 0x10);
    section.add_fde(0, 0x2000, 0x10);  // an .eh_frame would have a CIE here
    UnwindRule signal_frame = rule_at_entry();
    signal_frame.signal_frame = true;
    EXPECT_EQ(rows_of(read(section)), (Rows{{0x1000, signal_frame},
                                            {0x1010, kNoCfi},
                                            {0x2000, rule_at_entry()},
                                            {0x2010, kNoCfi}}));
}

TEST(ReadDebugFrame, RefusesFunctionsThatNameNoCie) {
    DebugFrameBuilder section;
    const std::uint64_t cie = section.add_cie();
    const std::uint64_t good = section.add_fde(cie, 0x1000, 0x10);
    section.add_fde(good, 0x2000, 0x10);
    section.add_fde(cie + 1, 0x3000, 0x10);
    section.add_fde(0x7fffffff, 0x4000, 0x10);
    const EhFrame frame = read(section);
    EXPECT_EQ(frame.fde_count, 1U);
    EXPECT_EQ(frame.fde_refused_count, 3U);
}

TEST(ReadDebugFrame, GoesOnPastALengthOfZero) {
    DebugFrameBuilder section;
    const std::uint64_t cie = section.add_cie();
    section.bytes().u32(0);
    section.add_fde(cie, 0x1000, 0x10);
    EXPECT_EQ(read(section).fde_count, 1U);
}

// ld leaves 0 for them, lld all ones (-z dead-reloc-in-nonalloc).
TEST(ReadDebugFrame, IgnoresRemovedFunctions) {
    DebugFrameBuilder section;
    const std::uint64_t cie = section.add_cie();
    section.add_fde(cie, 0, 0x10);
    section.add_fde(cie, ~std::uint64_t{0}, 0x10);
    section.add_fde(cie, 0x1000, 0x10);
    const EhFrame frame = read(section);
    EXPECT_EQ(frame.unwind.base_file_vaddr, 0x1000U);
    EXPECT_EQ(frame.fde_count, 1U);
    EXPECT_EQ(frame.fde_refused_count, 0U);
}

TEST(ReadDebugFrame, RefusesOtherSizesOfAddressAndSegments) {
    for (const Bytes& sizes : {Bytes{4, 0}, Bytes{8, 4}}) {
        DebugFrameBuilder section;
        Bytes cie;
        cie.u32(0xffffffff).u8(4).text("").append(sizes).append({1, 0x78, 16}).append(kAtEntry);
        section.add_fde(section.add_entry(cie), 0x1000, 0x10);
        EXPECT_EQ(error_of(section), "all 1 FDEs are malformed");
    }
}

// Relative to what, in a section without an address?
TEST(ReadDebugFrame, RefusesRelativePointers) {
    DebugFrameBuilder section;
    Bytes cie;
    cie.u32(0xffffffff).u8(1).text("zR").append({1, 0x78, 16, 1, 0x1b}).append(kAtEntry);
    section.add_entry(cie);
    section.add_entry(Bytes().u32(0).u32(0x1000).u32(0x10).u8(0));
    EXPECT_EQ(error_of(section), "all 1 FDEs are malformed");
}

TEST(ReadDebugFrame, IsNoEhFrame) {
    DebugFrameBuilder section;
    section.add_fde(section.add_cie(), 0x1000, 0x10);
    const Result<EhFrame> frame = read_eh_frame(section.bytes().view(), 0);
    EXPECT_FALSE(frame.has_value());
}

TEST(ReadDebugFrame, SurvivesEveryTruncationAndEveryChangedByte) {
    DebugFrameBuilder whole(Width::k64);
    const std::uint64_t cie = whole.add_cie();
    whole.add_fde(cie, 0x1000, 0x40, {0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x43, 0x0d, 6, 0x0b});
    whole.add_fde(cie, 0x1040, 0x40, Bytes{0x0f}.block({0x76, 0x78, 0x06}));
    const std::size_t size = whole.bytes().size();
    for (std::size_t cut = 0; cut < size; ++cut) {
        DebugFrameBuilder section = whole;
        section.bytes().storage().resize(cut);
        if (const auto frame = section.read()) (void)rows_of(*frame);
    }
    for (std::size_t at = 0; at < size; ++at) {
        for (int value = 0; value < 256; ++value) {
            DebugFrameBuilder section = whole;
            section.bytes().storage()[at] = static_cast<std::byte>(value);
            if (const auto frame = section.read()) (void)rows_of(*frame);
        }
    }
}

}  // namespace
}  // namespace bobbin::cfi

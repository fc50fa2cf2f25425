// SPDX-License-Identifier: Apache-2.0
// Records as the specification describes them (tools/perf/Documentation/jitdump-specification.txt),
// written here byte for byte.
#include "symbolize/jitdump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bobbin::symbolize {
namespace {

using testing::ElementsAre;

class Dump {
public:
    explicit Dump(std::uint32_t padding = 0) {
        u32(0x4A695444).u32(1).u32(40).u32(62).u32(padding).u32(1234).u64(0).u64(0);
    }

    Dump& load(std::uint64_t vaddr, std::uint64_t size, std::uint64_t index,
               const std::string& name) {
        begin(0, 40 + name.size() + 1 + size);
        u32(1234).u32(1234).u64(vaddr).u64(vaddr).u64(size).u64(index).text(name);
        bytes_.resize(bytes_.size() + size, '\xcc');
        return *this;
    }
    Dump& move(std::uint64_t from, std::uint64_t to, std::uint64_t size, std::uint64_t index) {
        begin(1, 48);
        return u32(1234).u32(1234).u64(to).u64(from).u64(to).u64(size).u64(index);
    }
    struct Entry {
        std::uint64_t vaddr = 0;
        std::uint32_t line = 0;
        std::string file;
    };
    Dump& debug_info(std::uint64_t vaddr, const std::vector<Entry>& entries) {
        std::size_t size = 16;
        for (const Entry& entry : entries) size += 16 + entry.file.size() + 1;
        begin(2, size);
        u64(vaddr).u64(entries.size());
        for (const Entry& entry : entries) {
            u64(entry.vaddr).u32(entry.line).u32(0).text(entry.file);
        }
        return *this;
    }
    Dump& close() { return begin(3, 0); }
    Dump& unwinding_info() { return begin(4, 24).u64(0).u64(0).u64(0); }

    Dump& begin(std::uint32_t kind, std::size_t payload) {
        return u32(kind).u32(static_cast<std::uint32_t>(16 + payload)).u64(99);
    }
    Dump& u32(std::uint32_t value) { return raw(&value, sizeof value); }
    Dump& u64(std::uint64_t value) { return raw(&value, sizeof value); }

    std::string& bytes() { return bytes_; }

    Result<std::vector<NamedFrame>> read(const std::vector<std::uint64_t>& addresses) const {
        return read_jitdump(bytes_in_memory(std::as_bytes(std::span(bytes_))), addresses);
    }
    std::vector<std::string> names(const std::vector<std::uint64_t>& addresses) const {
        std::vector<std::string> names;
        const auto frames = read(addresses);
        EXPECT_TRUE(frames);
        if (!frames) return names;
        for (const NamedFrame& frame : *frames) names.push_back(frame.system_name);
        return names;
    }

private:
    Dump& raw(const void* data, std::size_t size) {
        bytes_.append(static_cast<const char*>(data), size);
        return *this;
    }
    Dump& text(const std::string& value) { return raw(value.c_str(), value.size() + 1); }

    std::string bytes_;
};

TEST(ReadJitdump, NamesLoadedCode) {
    const Dump dump = Dump().load(0x1000, 0x20, 1, "first").load(0x1020, 0x10, 2, "second one");
    EXPECT_THAT(dump.names({0xfff, 0x1000, 0x101f, 0x1020, 0x102f, 0x1030}),
                ElementsAre("", "first", "first", "second one", "second one", ""));
}

TEST(ReadJitdump, LetsLaterCodeTakeThePlaceOfEarlier) {
    const Dump dump = Dump().load(0x1000, 0x100, 1, "old").load(0x1040, 0x20, 2, "new").close();
    EXPECT_THAT(dump.names({0x1000, 0x1040, 0x1060}), ElementsAre("old", "new", "old"));
}

// Code 2 was loaded where nobody asks, and is not loaded again when it moves.
TEST(ReadJitdump, FollowsMovedCode) {
    const Dump dump = Dump()
                          .load(0x1000, 0x20, 1, "first")
                          .load(0x9000, 0x20, 2, "second")
                          .move(0x9000, 0x5000, 0x20, 2)
                          .move(0x5000, 0x1000, 0x20, 2);
    EXPECT_THAT(dump.names({0x1008, 0x5008}), ElementsAre("second", "second"));
}

TEST(ReadJitdump, TakesNoNameFromCodeThatWasNeverLoaded) {
    const Dump dump = Dump().move(0x9000, 0x1000, 0x20, 7).load(0x2000, 0x10, 1, "first");
    EXPECT_THAT(dump.names({0x1008, 0x2008}), ElementsAre("", "first"));
}

TEST(ReadJitdump, GivesFileAndLineOfTheEntryBefore) {
    const Dump dump =
        Dump()
            .debug_info(0x1000, {{0x1000, 10, "a.js"}, {0x1008, 20, "\xff"}, {0x1010, 30, "b.js"}})
            .load(0x1000, 0x20, 1, "f")
            .load(0x2000, 0x20, 2, "without lines");
    const auto frames = dump.read({0x1007, 0x1008, 0x101f, 0x2000});
    ASSERT_TRUE(frames);
    std::vector<std::pair<std::string, std::uint32_t>> lines;
    for (const NamedFrame& frame : *frames) lines.emplace_back(frame.file, frame.line);
    EXPECT_THAT(lines, ElementsAre(std::pair("a.js", 10U), std::pair("a.js", 20U),
                                   std::pair("b.js", 30U), std::pair("", 0U)));
}

TEST(ReadJitdump, MovesLinesWithTheirCode) {
    const Dump dump = Dump()
                          .debug_info(0x9000, {{0x9000, 10, "a.js"}, {0x9008, 20, "a.js"}})
                          .load(0x9000, 0x20, 1, "f")
                          .move(0x9000, 0x1000, 0x20, 1);
    const auto frames = dump.read({0x1007, 0x1008});
    ASSERT_TRUE(frames);
    EXPECT_EQ(frames->at(0).line, 10U);
    EXPECT_EQ(frames->at(1).line, 20U);
}

// perf-jit.cc of V8: entry.address_ = code_start + code_offset + kElfHeaderSize, which is 64, and
// header.reserved_ = 0xDEADBEEF.
TEST(ReadJitdump, TakesFromLinesOfV8WhatItAddsToThem) {
    const std::vector<Dump::Entry> entries{{0x1040, 10, "a.js"}, {0x1048, 20, "a.js"}};
    const Dump dump = Dump(0xDEADBEEF).debug_info(0x1000, entries).load(0x1000, 0x20, 1, "f");
    const auto frames = dump.read({0x1007, 0x1008});
    ASSERT_TRUE(frames);
    EXPECT_EQ(frames->at(0).line, 10U);
    EXPECT_EQ(frames->at(1).line, 20U);
}

TEST(ReadJitdump, GivesNoLinesOfOtherCode) {
    const Dump dump = Dump()
                          .debug_info(0x5000, {{0x1000, 10, "a.js"}})
                          .load(0x1000, 0x20, 1, "f")
                          .load(0x5000, 0x20, 2, "g");
    const auto frames = dump.read({0x1000, 0x5000});
    ASSERT_TRUE(frames);
    EXPECT_EQ(frames->at(0).line, 0U);
    EXPECT_EQ(frames->at(1).line, 0U);
}

// What node 20 writes: the beginning of each file name is what free() left there, with a zero in
// it.
TEST(ReadJitdump, GivesNoLinesWhereEntriesCannotBeThat) {
    const auto line_with = [](const std::vector<Dump::Entry>& entries) {
        const Dump dump = Dump().debug_info(0x1000, entries).load(0x1000, 0x20, 1, "f");
        const auto frames = dump.read({0x1010});
        EXPECT_TRUE(frames);
        EXPECT_EQ(frames->at(0).system_name, "f");
        return frames->at(0).line;
    };
    EXPECT_EQ(line_with({{0x1000, 10, "a.js"}, {0x1020, 20, "a.js"}}), 10U);
    EXPECT_EQ(line_with({{0x1000, 10, "a.js"}, {0x1021, 20, "a.js"}}), 0U);
    EXPECT_EQ(line_with({{0x1000, 10, "a.js"}, {0xfff, 20, "a.js"}}), 0U);
    EXPECT_EQ(line_with({{0x1000, 10, "\xe6\xebX\b"}}), 0U);
    const std::string freed("\xe6\0 freed/a.js", 13);
    EXPECT_EQ(line_with({{0x1000, 10, freed}, {0x1008, 20, freed}}), 0U);
}

TEST(ReadJitdump, StepsOverRecordsItDoesNotKnow) {
    const Dump dump = Dump().unwinding_info().begin(77, 8).u64(0).load(0x1000, 0x20, 1, "f");
    EXPECT_THAT(dump.names({0x1000}), ElementsAre("f"));
}

TEST(ReadJitdump, KeepsWhatComesBeforeARecordThatCannotBeOne) {
    Dump too_small = Dump().load(0x1000, 0x20, 1, "f");
    too_small.u32(0).u32(15).u64(0).load(0x2000, 0x20, 2, "g");
    EXPECT_THAT(too_small.names({0x1000, 0x2000}), ElementsAre("f", ""));
    Dump unfinished = Dump().load(0x1000, 0x20, 1, "f").load(0x2000, 0x20, 2, "g");
    unfinished.bytes().pop_back();
    EXPECT_THAT(unfinished.names({0x1000, 0x2000}), ElementsAre("f", ""));
}

TEST(ReadJitdump, SurvivesSizesThatLeaveTheAddressSpace) {
    Dump dump;
    dump.begin(0, 42).u32(1).u32(1).u64(0x1000).u64(0x1000).u64(UINT64_MAX).u64(1);
    dump.bytes() += std::string("f\0", 2);
    EXPECT_THAT(dump.names({0x1000}), ElementsAre(""));
}

TEST(ReadJitdump, RefusesWhatIsNoJitdumpOfThisMachine) {
    const auto refusal = [](const Dump& dump) {
        const auto frames = dump.read({0x1000});
        return frames ? std::string("read") : frames.error().message();
    };
    Dump other_order;
    std::memcpy(other_order.bytes().data(), "JiTD", 4);  // as a big-endian machine writes it
    EXPECT_EQ(refusal(other_order), "a jitdump of a machine with another byte order");
    Dump newer;
    newer.bytes()[4] = 2;
    EXPECT_EQ(refusal(newer), "a jitdump of version 2");
    Dump cut;
    cut.bytes().resize(39);
    EXPECT_EQ(refusal(cut), "not a jitdump");
    Dump text;
    text.bytes() = std::string(100, 'x');
    EXPECT_EQ(refusal(text), "not a jitdump");
    Dump endless_header;
    endless_header.bytes()[11] = '\x7f';
    EXPECT_NE(refusal(endless_header), "read");
}

}  // namespace
}  // namespace bobbin::symbolize

// SPDX-License-Identifier: Apache-2.0
#include "cli/object_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "support/output_of.h"
#include "support/temporary_directory.h"

namespace bobbin::cli {
namespace {

using test::output_of;
using testing::HasSubstr;

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::string first_match(const std::string& text, const std::string& pattern) {
    std::smatch match;
    if (std::regex_search(text, match, std::regex(pattern))) return match[1];
    ADD_FAILURE() << "no " << pattern << " in:\n" << text;
    return {};
}

// readelf is the oracle.
TEST(ReadObjectInfo, AgreesWithReadelf) {
    const std::string path = this_program();
    const Result<ObjectInfo> info = read_object_info(path);
    ASSERT_TRUE(info) << info.error().message();
    EXPECT_EQ(info->no_unwind_reason, "");

    const std::string notes = output_of("LC_ALL=C readelf -nW '" + path + "'");
    EXPECT_EQ(elf::to_hex(info->build_id), first_match(notes, "Build ID: ([0-9a-f]+)"));

    const std::string header = output_of("LC_ALL=C readelf -hW '" + path + "'");
    EXPECT_EQ(info->position_independent, header.find("DYN") != std::string::npos);

    const std::string sections = output_of("LC_ALL=C readelf -SW '" + path + "'");
    const std::string size =
        first_match(sections, "\\.eh_frame +[A-Z0-9_]+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) ");
    ASSERT_EQ(info->sources.size(), 2U) << "_init and _fini alone are not in .eh_frame";
    EXPECT_EQ(info->sources.back().section, ".init");
    const executable::RowSource& eh_frame = info->sources.front();
    EXPECT_EQ(eh_frame.section, ".eh_frame");
    EXPECT_EQ(eh_frame.size_bytes, std::stoull(size, nullptr, 16));

    std::istringstream segments(output_of("LC_ALL=C readelf -lW '" + path + "'"));
    std::size_t load_count = 0;
    for (std::string word; segments >> word;) load_count += word == "LOAD" ? 1 : 0;
    EXPECT_EQ(info->segments.size(), load_count);

    const std::string frames =
        output_of("LC_ALL=C readelf --debug-dump=no-follow-links --debug-dump=frames -W '" + path +
                  "' 2>/dev/null | grep -c ' FDE cie='");
    EXPECT_EQ(eh_frame.function_count, std::stoull(frames));
    EXPECT_EQ(eh_frame.function_refused_count, 0U);
    EXPECT_GT(info->row_count, eh_frame.function_count);
    EXPECT_GT(info->table_bytes, 0U);
    EXPECT_GT(info->function_symbol_count, 0U);
}

ObjectInfo small_info() {
    ObjectInfo info;
    info.path = "/tmp/a\x1b.so";
    info.build_id = {std::byte{0xab}, std::byte{0x01}};
    info.position_independent = true;
    info.segments = {{.file_offset = 0x1000,
                      .file_size_bytes = 0x200,
                      .file_vaddr = 0x401000,
                      .memory_size_bytes = 0x300,
                      .executable = true}};
    info.function_symbol_count = 1234;
    info.sources = {{".gopclntab", 5678, 90, 0}, {".eh_frame", 321, 7, 1}};
    info.row_count = 1000;
    info.distinct_rule_count = 12;
    info.table_entry_count = 900;
    info.table_bytes = 4096;
    info.granule_shift = 9;
    return info;
}

TEST(DescribeObjectInfo, WritesOneLineAFact) {
    EXPECT_EQ(describe(small_info()),
              "path        /tmp/a\\x1b.so\n"
              "build id    ab01\n"
              "type        position-independent (ET_DYN)\n"
              "segment     offset 0x1000 + 0x200 bytes at 0x401000, 0x300 in memory, executable\n"
              "symbols     1,234 functions\n"
              ".gopclntab  5,678 bytes, 90 functions (0 refused)\n"
              ".eh_frame   321 bytes, 7 functions (1 refused)\n"
              "rows        1,000, 12 distinct rules\n"
              "table       4,096 bytes, 900 entries, granules of 512 bytes (shift 9)\n");
}

luajit::VmLayout small_layout() {
    luajit::VmLayout layout;
    layout.is_gc64 = true;
    layout.cframe_bytes = 80;
    layout.places.begin_file_vaddr = 0x8d70;
    layout.places.end_file_vaddr = 0xcdb5;
    layout.offsets.dispatch = 0xf80;
    return layout;
}

TEST(DescribeObjectInfo, SaysWhichLuajitThereIs) {
    ObjectInfo info = small_info();
    info.luajit = small_layout();
    EXPECT_THAT(describe(info),
                HasSubstr("LuaJIT      64-bit references, interpreter at 0x8d70 + 16,453 bytes, "
                          "C frames of 80 bytes, VM states of upstream\n"));
    info.luajit = fail("the code of vm_call is there 0 times");
    EXPECT_THAT(describe(info), HasSubstr("LuaJIT      the code of vm_call is there 0 times\n"));
}

TEST(ObjectInfoJson, HoldsTheOffsetsOfALuajit) {
    ObjectInfo info = small_info();
    EXPECT_TRUE(nlohmann::json::parse(to_json(info)).at("luajit").is_null());
    info.luajit = small_layout();
    const auto luajit = nlohmann::json::parse(to_json(info)).at("luajit");
    EXPECT_EQ(luajit.at("gc64"), true);
    EXPECT_EQ(luajit.at("cframe_bytes"), 80);
    EXPECT_EQ(luajit.at("begin_file_vaddr"), 0x8d70);
    EXPECT_EQ(luajit.at("offsets").at("dispatch"), 0xf80);
}

TEST(DescribeObjectInfo, SaysWhyThereIsNoTable) {
    ObjectInfo info;
    info.no_unwind_reason = "the file says nothing about unwinding";
    EXPECT_THAT(describe(info), HasSubstr("build id    none\n"));
    EXPECT_THAT(describe(info), HasSubstr("unwinding   the file says nothing about unwinding\n"));
}

TEST(ObjectInfoJson, HoldsTheNumbersAndSurvivesNamesThatAreNotUtf8) {
    ObjectInfo info = small_info();
    info.path = "/tmp/\xff";
    const auto report = nlohmann::json::parse(to_json(info));
    EXPECT_EQ(report.at("build_id"), "ab01");
    EXPECT_EQ(report.at("segments").at(0).at("file_vaddr"), 0x401000);
    EXPECT_EQ(report.at("unwind_sources").at(0).at("section"), ".gopclntab");
    EXPECT_EQ(report.at("unwind_sources").at(1).at("functions"), 7);
    EXPECT_EQ(report.at("unwind_sources").at(1).at("functions_refused"), 1);
    EXPECT_EQ(report.at("rows"), 1000);
    EXPECT_EQ(report.at("table_bytes"), 4096);
    EXPECT_FALSE(report.contains("no_unwind_reason"));
}

TEST(RunObjectInfo, RefusesWhatIsNoElfFile) {
    const test::TemporaryDirectory directory;
    const std::string fifo = directory.path() / "fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    for (const std::string& path :
         {directory.write("text", "#!/bin/sh\necho hello\n").string(),
          directory.write("empty", "").string(),
          directory
              .write("cut", std::string("\x7f"
                                        "ELF\x02\x01\x01"))
              .string(),
          fifo, directory.path().string(), (directory.path() / "missing").string(),
          std::string("/dev/null")}) {
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        EXPECT_EQ(run_object_info({path, false}), 1) << path;
        EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_THAT(said, HasSubstr(path));
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 3) << said;
    }
}

TEST(RunObjectInfo, PrintsToStandardOutput) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(run_object_info({this_program(), true}), 0);
    const auto report = nlohmann::json::parse(testing::internal::GetCapturedStdout());
    EXPECT_EQ(report.at("path"), this_program());
}

}  // namespace
}  // namespace bobbin::cli

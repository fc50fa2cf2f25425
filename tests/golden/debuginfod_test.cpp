// SPDX-License-Identifier: Apache-2.0
// Debug files from elfutils' own server, and from servers that are none.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "golden/debuginfod_servers.h"
#include "support/temporary_directory.h"
#include "symbolize/debug_file_fetcher.h"
#include "symbolize/executable_namer.h"

namespace bobbin::test {
namespace {

namespace fs = std::filesystem;
using symbolize::DebugFileFetcher;
using symbolize::ExecutableNamer;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSource =
    "#include <stdlib.h>\n"
    "static inline __attribute__((always_inline)) int square(int x) { return x * rand(); }\n"
    "int work(int x) { return square(x) + 1; }\n"
    "int main(void) { return work(2); }\n";
constexpr std::uint32_t kProgramId = 7;

std::string content_of(int fd) {
    std::ifstream file("/proc/self/fd/" + std::to_string(fd), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

UniqueFd open(const fs::path& path) { return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

elf::BuildId build_id_of(const fs::path& path) {
    return elf::ElfFile::open(open(path).get())->build_id();
}

// A stripped program and, in a directory of its own, its debug file.
class DebuginfodTest : public testing::Test {
protected:
    DebuginfodTest() {
        fs::create_directory(directory_ / "served");
        std::ofstream(directory_ / "a.c") << kSource;
        const FinishedProcess built =
            run_process({"/bin/sh", "-e", "-c",
                         "cd \"$0\"; cc -O2 -g -o program a.c; objcopy --only-keep-debug program "
                         "served/a.debug; strip -g program; cc -o other a.c",
                         directory_.path().string()});
        EXPECT_EQ(built.exit_status, 0) << built.standard_error;
        ::setenv("DEBUGINFOD_CACHE_PATH", (directory_ / "cache").c_str(), 1);
        ::setenv("DEBUGINFOD_TIMEOUT", "1", 1);
    }
    ~DebuginfodTest() override {
        ::unsetenv("DEBUGINFOD_CACHE_PATH");
        ::unsetenv("DEBUGINFOD_TIMEOUT");
    }

    [[nodiscard]] fs::path program() const { return directory_ / "program"; }
    [[nodiscard]] fs::path debug_file() const { return directory_ / "served" / "a.debug"; }
    [[nodiscard]] fs::path cached() const {
        return directory_ / "cache" / elf::to_hex(build_id_of(program())) / "debuginfo";
    }

    static symbolize::FetchOptions from(const std::string& urls) {
        return {.urls = urls, .user = {}, .program = BOBBIN_PROGRAM};
    }

    // By the program alone, with downloads for `often_sampled`: "name line", innermost first.
    std::vector<std::string> names_of_call(const std::string& urls,
                                           std::vector<std::uint32_t> often_sampled) {
        executable::Executable executable;
        executable.id = kProgramId;
        executable.path = program();
        executable.build_id = build_id_of(program());
        executable.file = std::make_shared<executable::HeldFile>(open(program()), program());
        const FinishedProcess call = run_process(
            {"/bin/sh", "-c",
             "objdump -d --no-show-raw-insn --disassemble=work \"$0\" | grep 'call.*rand'",
             program()});
        const std::vector<std::uint64_t> addresses = {
            std::stoull(call.standard_output, nullptr, 16)};
        ExecutableNamer namer(kGenerousTimeout, {.program = BOBBIN_PROGRAM});
        namer.download_for(std::move(often_sampled), from(urls));
        std::vector<std::string> names;
        for (const auto& frames : namer.name(executable, addresses)) {
            for (const symbolize::NamedFrame& frame : frames) {
                names.push_back(frame.system_name + " " + std::to_string(frame.line));
            }
        }
        losses_ = describe(namer.losses());
        return names;
    }

    TemporaryDirectory directory_;
    std::vector<std::string> losses_;
};

TEST_F(DebuginfodTest, GivesTheDebugFileAndKeepsItWhereElfutilsLooksForIt) {
    {
        const Debuginfod server(directory_ / "served");
        DebugFileFetcher fetcher(from(server.url()));
        const UniqueFd fd = fetcher.fetch(build_id_of(program()));
        ASSERT_TRUE(fd.is_open()) << fetcher.last_failure();
        EXPECT_EQ(content_of(fd.get()), content_of(debug_file()));
    }
    EXPECT_EQ(content_of(cached()), content_of(debug_file()));
    DebugFileFetcher fetcher(from("http://127.0.0.1:1"));
    EXPECT_TRUE(fetcher.fetch(build_id_of(program())).is_open()) << "from the cache";
}

TEST_F(DebuginfodTest, GivesLinesAndInlinedFunctions) {
    const Debuginfod server(directory_ / "served");
    EXPECT_THAT(names_of_call(server.url(), {3, kProgramId, 9}), ElementsAre("square 2", "work 3"));
    EXPECT_THAT(losses_, IsEmpty());
}

TEST_F(DebuginfodTest, IsNotAskedForWhatWasSampledSeldom) {
    const FakeServer server("");
    EXPECT_THAT(names_of_call(server.url(), {kProgramId - 1, kProgramId + 1}),
                ElementsAre("work 0"));
    EXPECT_EQ(server.connection_count(), 0U);
}

// `work` is on the list all the same: the program has its own debugging information.
TEST_F(DebuginfodTest, IsNotAskedForWhatIsThere) {
    fs::create_directory(directory_ / ".debug");
    run_process({"objcopy", "--add-gnu-debuglink=" + debug_file().string(), program()});
    fs::copy_file(debug_file(), directory_ / ".debug" / "a.debug");
    const FakeServer server("");
    EXPECT_THAT(names_of_call(server.url(), {kProgramId}), ElementsAre("square 2", "work 3"));
    EXPECT_EQ(server.connection_count(), 0U);
}

TEST_F(DebuginfodTest, HasFailedNobodyWhereItLacksAFile) {
    const Debuginfod server(directory_ / "served");
    DebugFileFetcher fetcher(from(server.url()));
    for (const std::byte last : {std::byte{1}, std::byte{2}, std::byte{3}}) {
        elf::BuildId unknown(20, std::byte{0xab});
        unknown.back() = last;
        EXPECT_FALSE(fetcher.fetch(unknown).is_open());
    }
    EXPECT_EQ(fetcher.failure_count(), 0U) << fetcher.last_failure();
    EXPECT_TRUE(fetcher.fetch(build_id_of(program())).is_open());
}

TEST_F(DebuginfodTest, IsAskedNoMoreAfterItDidNotAnswerTwice) {
    const FakeServer server("");
    DebugFileFetcher fetcher(from(server.url()));
    for (int i = 0; i < 5; ++i) {
        elf::BuildId build_id(20, std::byte{0xab});
        build_id.back() = static_cast<std::byte>(i);
        EXPECT_FALSE(fetcher.fetch(build_id).is_open());
    }
    EXPECT_EQ(fetcher.failure_count(), 2U);
    EXPECT_EQ(server.connection_count(), 2U);
}

TEST_F(DebuginfodTest, IsNotBelieved) {
    for (const std::string& content : {std::string(100'000, 'x'), content_of(directory_ / "other"),
                                       std::string("\x7f"
                                                   "ELF")}) {
        const FakeServer server(http_answer(content));
        DebugFileFetcher fetcher(from(server.url()));
        EXPECT_FALSE(fetcher.fetch(build_id_of(program())).is_open());
        EXPECT_EQ(fetcher.failure_count(), 1U);
        EXPECT_EQ(fetcher.last_failure(), "what was sent is not what was asked for");
        EXPECT_FALSE(fs::exists(cached())) << "the next one who asks would get it";
    }
}

TEST_F(DebuginfodTest, CostsLinesOnlyWhereItFails) {
    const FakeServer server(http_answer("rubbish"));
    EXPECT_THAT(names_of_call(server.url(), {kProgramId}), ElementsAre("work 0"));
    EXPECT_THAT(losses_, Contains(HasSubstr("no debugging information from debuginfod: what was "
                                            "sent is not what was asked for")));
}

}  // namespace
}  // namespace bobbin::test

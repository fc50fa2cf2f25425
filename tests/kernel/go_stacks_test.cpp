// SPDX-License-Identifier: Apache-2.0
// Go programs with a known chain (tests/fixtures/go_chain, go_cgo). Two shares, as in
// whole_stacks_test.cpp: exact, of the samples whose innermost frame is in the program's own code;
// and ended, of all samples: at the first frame of a goroutine or thread, or where the runtime
// changed stacks and the walk says so.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "kernel/sampled_fixture.h"
#include "support/expected_stacks.h"
#include "support/fixture_test_name.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

// Before, systemstack and asmcgocall kept no frame of their own, so the stack they left is lost.
constexpr bool kGoKeepsFramePointers = BOBBIN_GO_MINOR >= 21;

using Names = std::vector<std::string>;  // leaf first

// Assembly functions have ".abi0" behind their names in the symbol table.
std::string without_abi(std::string name) {
    constexpr std::string_view kSuffix = ".abi0";
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    return name;
}

// Without what the compiler puts between a goroutine's first function and goexit, to pass
// arguments: main.main.gowrap1, main.main.func1.
Names names_of(const Stack& stack) {
    Names names;
    for (const Frame& frame : stack.user_frames()) names.push_back(without_abi(frame.function));
    std::erase_if(names, [](const std::string& name) { return name.starts_with("main.main."); });
    return names;
}

bool is_one_of(const std::string& name, const Names& names) {
    return std::ranges::find(names, name) != names.end();
}

bool ends_at_the_bottom(const Stack& stack) {
    const Names names = names_of(stack);
    const Names bottoms{"runtime.goexit", "runtime.mstart", "runtime.rt0_go", "_rt0_amd64",
                        "_rt0_amd64_linux"};
    return (!names.empty() && is_one_of(names.back(), bottoms)) || reaches_the_bottom(stack);
}

bool ends_where_stacks_change(const Stack& stack) {
    const Names names = names_of(stack);
    Names changes{"runtime.mcall", "runtime.morestack", "runtime.clone", "gogo"};
    if (!kGoKeepsFramePointers) {
        changes.insert(changes.end(), {"runtime.systemstack", "runtime.asmcgocall"});
    }
    return !names.empty() && is_one_of(names.back(), changes);
}

void expect_every_stack_ended(const std::vector<Stack>& stacks) {
    const auto has_ended = [](const Stack& stack) {
        return ends_at_the_bottom(stack) || ends_where_stacks_change(stack);
    };
    expect_exact("ended", stacks, every_stack, has_ended);
    const Verdict changes = judge(stacks, every_stack, ends_where_stacks_change);
    testing::Test::RecordProperty("other_stack", std::to_string(changes.right));
    fmt::print("other stack: {} of {}\n", changes.right, changes.judged);
}

std::vector<Stack> stacks_of(const std::string& fixture) {
    return sample_fixture(fixture).stacks_of(comm_of(fixture));
}

elf::ElfFile open_elf(const UniqueFd& fd) {
    auto elf = elf::ElfFile::open(fd.get());
    EXPECT_TRUE(elf.has_value());
    return std::move(*elf);
}

// Names for a program without symbols, from one that differs by them only.
class Twin {
public:
    explicit Twin(const std::string& stripped) {
        const std::string twin = stripped.substr(0, stripped.rfind('_'));
        const UniqueFd stripped_fd(::open(fixture_path(stripped).c_str(), O_RDONLY | O_CLOEXEC));
        const UniqueFd twin_fd(::open(fixture_path(twin).c_str(), O_RDONLY | O_CLOEXEC));
        const elf::ElfFile twin_elf = open_elf(twin_fd);
        const auto text = open_elf(stripped_fd).read_section(".text");
        const auto same_text = twin_elf.read_section(".text");
        EXPECT_TRUE(text && same_text && *text && *same_text);
        EXPECT_EQ((*text)->file_vaddr, (*same_text)->file_vaddr);
        // Go's build id stands at the text's beginning, and differs.
        EXPECT_EQ((*text)->bytes.size(), (*same_text)->bytes.size());
        const auto symbols = twin_elf.read_function_symbols();
        EXPECT_TRUE(symbols.has_value());
        for (const elf::Symbol& symbol : *symbols) names_[symbol.file_vaddr] = symbol.name;
        prefix_ = stripped + "+0x";
    }

    void name(std::vector<Stack>& stacks) const {
        for (Stack& stack : stacks) {
            for (Frame& frame : stack.frames) name(frame);
        }
    }

private:
    void name(Frame& frame) const {
        if (!frame.function.starts_with(prefix_)) return;
        const auto address = std::stoull(frame.function.substr(prefix_.size()), nullptr, 16);
        const auto above = names_.upper_bound(address);
        if (above != names_.begin()) frame.function = std::prev(above)->second;
    }

    std::map<std::uint64_t, std::string> names_;
    std::string prefix_;
};

// main.leaf, main.link08 ... main.link01, main.work, runtime.goexit
Names chain_below(const std::string& innermost) {
    Names chain{"main.leaf"};
    for (int link = 8; link >= 1; --link) chain.push_back(fmt::format("main.link{:02}", link));
    chain.insert(chain.end(), {"main.work", "runtime.goexit"});
    const auto first = std::ranges::find(chain, innermost);
    // Whatever a link calls besides is main.touch.
    if (first == chain.end()) return {};
    return {first, chain.end()};
}

class GoChain : public testing::TestWithParam<std::string> {};

bool is_in_chain(const Stack& stack) {
    const Names names = names_of(stack);
    return !names.empty() && !chain_below(names.front()).empty();
}

TEST_P(GoChain, IsFoundDownToGoexit) {
    std::vector<Stack> stacks = stacks_of(GetParam());
    if (GetParam().ends_with("_stripped")) Twin(GetParam()).name(stacks);
    const auto is_exact = [](const Stack& stack) {
        const Names names = names_of(stack);
        return names == chain_below(names.front());
    };
    expect_exact("exact", stacks, is_in_chain, is_exact);
    expect_every_stack_ended(stacks);
}

INSTANTIATE_TEST_SUITE_P(Of, GoChain,
                         testing::Values("go_chain.exe", "go_chain.exe_stripped", "go_chain.pie",
                                         "go_chain.pie_stripped"),
                         fixture_test_name);

// What lies between two functions of the program when a call goes from one language to the other:
// wrappers that cgo generates, and the runtime's part.
bool is_cgo_plumbing(const std::string& name) {
    const Names runtime{"runtime.cgocall",
                        "runtime.asmcgocall",
                        "runtime.cgocallback",
                        "runtime.cgocallbackg",
                        "runtime.cgocallbackg1",
                        "crosscall2",
                        "goCallback"};
    return is_one_of(name, runtime) || name.starts_with("_cgo") ||
           name.starts_with("main._Cfunc_") || name.starts_with("main.callC.func") ||
           name.starts_with("main.burnInC.func");
}

Names own_frames_of(const Stack& stack) {
    Names names = names_of(stack);
    std::erase_if(names, is_cgo_plumbing);
    return names;
}

// As far as one can see where Go keeps no frame pointer: to the C function that Go called.
bool is_the_cgo_chain(const Stack& stack, Names leaf, bool leaf_is_c) {
    const Names callers{"main.innerLink", "main.goCallback", "c_middle",      "c_outer",
                        "main.callC",     "main.work",       "runtime.goexit"};
    Names expected = std::move(leaf);
    expected.insert(expected.end(), callers.begin(), callers.end());
    if (!kGoKeepsFramePointers) {
        const auto lost = std::ranges::find(expected, leaf_is_c ? "main.burnInC" : "main.callC");
        expected.erase(lost, expected.end());
    }
    return own_frames_of(stack) == expected;
}

class CgoChain : public testing::TestWithParam<std::string> {};

bool leaf_is(const Stack& stack, const std::string& name) {
    const Names names = names_of(stack);
    return !names.empty() && names.front() == name;
}

TEST_P(CgoChain, IsFoundThroughBothLanguagesDownToGoexit) {
    std::vector<Stack> stacks = stacks_of(GetParam());
    if (GetParam().ends_with("_stripped")) Twin(GetParam()).name(stacks);
    const auto in_c = [](const Stack& stack) { return leaf_is(stack, "c_burn"); };
    const auto in_go = [](const Stack& stack) { return leaf_is(stack, "main.leaf"); };
    const auto exact_in_c = [](const Stack& stack) {
        return is_the_cgo_chain(stack, {"c_burn", "main.burnInC"}, true);
    };
    const auto exact_in_go = [](const Stack& stack) {
        return is_the_cgo_chain(stack, {"main.leaf", "main.burnInGo"}, false);
    };
    expect_exact("exact in C", stacks, in_c, exact_in_c, kFewestOfMany);
    expect_exact("exact in Go", stacks, in_go, exact_in_go, kFewestOfMany);
    expect_every_stack_ended(stacks);
}

INSTANTIATE_TEST_SUITE_P(Of, CgoChain,
                         testing::Values("go_cgo.exe", "go_cgo.exe_stripped", "go_cgo.pie"),
                         fixture_test_name);

}  // namespace
}  // namespace bobbin::test

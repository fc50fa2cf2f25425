// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "cfi/eh_frame.h"
#include "elf/elf_file.h"
#include "elf/file_bytes.h"
#include "luajit/find_vm.h"
#include "support/output_of.h"
#include "support/temporary_directory.h"

namespace bobbin::luajit::test {

using Numbers = std::map<std::string, std::int64_t>;

// Offsets of no real build, but related as in all of them.
inline Numbers offsets_of(bool is_gc64) {
    if (is_gc64) {
        return {{"cframe_results", 8},
                {"cframe_error_function", 12},
                {"cframe_state", 16},
                {"cframe_pc", 24},
                {"cframe_previous", 32},
                {"state_status", 11},
                {"state_global", 16},
                {"state_base", 32},
                {"state_top", 40},
                {"state_max_stack", 48},
                {"state_stack", 56},
                {"state_cframe", 0x58},
                {"dispatch", 0x1010},
                {"vm_state", 0xc8},
                {"current_state", 0x198},
                {"jit_base", 0x1a8},
                {"jit_state", 0x310},
                {"jit_traces", 0x490},
                {"jit_parent_trace", 0xea8},
                {"jit_exit_number", 0xeac},
                {"trace_machine_code", 0x50},
                {"function_pc", 32},
                {"function_c", 40},
                {"prototype_constants", -72}};
    }
    return {{"cframe_results", 16},
            {"cframe_error_function", 20},
            {"cframe_state", 24},
            {"cframe_pc", 28},
            {"cframe_previous", 32},
            {"state_status", 7},
            {"state_global", 8},
            {"state_base", 16},
            {"state_top", 24},
            {"state_max_stack", 32},
            {"state_stack", 36},
            {"state_cframe", 0x38},
            {"dispatch", 0xd10},
            {"vm_state", 0x98},
            {"current_state", 0x138},
            {"jit_base", 0x140},
            {"jit_state", 0x220},
            {"jit_traces", 0x380},
            {"jit_parent_trace", 0xba8},
            {"jit_exit_number", 0xbac},
            {"trace_machine_code", 0x48},
            {"function_pc", 16},
            {"function_c", 24},
            {"prototype_constants", -48}};
}

struct Build {
    bool is_gc64 = true;
    std::vector<std::string> flags{};  // of vm_skeleton.S
    Numbers changed{};                 // other numbers than those of offsets_of()

    [[nodiscard]] Numbers numbers() const {
        Numbers numbers = offsets_of(is_gc64);
        numbers.insert({{"frame_space", 0x28}, {"cframe_bytes", 80}, {"exit_vm_state", ~3}});
        for (const auto& [name, value] : changed) numbers[name] = value;
        return numbers;
    }
};

// A library of vm_skeleton.S, put together by the assembler and the linker.
class BuiltVm {
public:
    explicit BuiltVm(const Build& build) {
        std::string command = fmt::format("gcc -shared -nostdlib -DGC64={:d}", build.is_gc64);
        for (const auto& [name, value] : build.numbers()) {
            command += fmt::format(" -D{}={}", name, value);
        }
        for (const std::string& flag : build.flags) command += " -D" + flag;
        path_ = directory_ / "vm.so";
        bobbin::test::output_of(command + " -o '" + path_ + "' '" BOBBIN_VM_SKELETON "'");
        fd_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
        auto file = elf::ElfFile::open(fd_.get());
        if (file) file_.emplace(std::move(*file));
        EXPECT_TRUE(file_.has_value()) << command;
    }

    [[nodiscard]] elf::FileBytes bytes() const { return *elf::FileBytes::of_fd(fd_.get()); }
    [[nodiscard]] const std::vector<elf::LoadSegment>& segments() const {
        return file_->load_segments();
    }
    [[nodiscard]] cfi::UnwindRows rows() const {
        const auto section = file_->read_eh_frame();
        if (!section || !*section) return {};
        const auto frame = cfi::read_eh_frame((*section)->bytes, (*section)->file_vaddr);
        return frame ? frame->unwind : cfi::UnwindRows{};
    }
    [[nodiscard]] elf::SectionBytes text() const { return **file_->read_section(".text"); }
    [[nodiscard]] Result<std::optional<VmLayout>> find() const {
        return find_vm(bytes(), segments(), rows());
    }

    // Of the assembler's labels, by nm.
    [[nodiscard]] Numbers labels() const {
        Numbers labels;
        std::istringstream lines(bobbin::test::output_of("nm '" + path_ + "'"));
        for (std::string address, type, name; lines >> address >> type >> name;) {
            labels[name] = std::stoll(address, nullptr, 16);
        }
        return labels;
    }

private:
    bobbin::test::TemporaryDirectory directory_;
    std::string path_;
    UniqueFd fd_;
    std::optional<elf::ElfFile> file_;
};

// Why there is no layout; else empty.
inline std::string problem_of(const Result<std::optional<VmLayout>>& found) {
    return found ? "" : found.error().message();
}

}  // namespace bobbin::luajit::test

// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/unique_fd.h"
#include "fuzz/check_rows.h"
#include "luajit/check_layout.h"
#include "luajit/find_vm.h"
#include "luajit/read_layout.h"
#include "luajit/unwind_rows.h"

namespace {

using bobbin::fuzz::require;
using bobbin::luajit::VmLayout;

constexpr std::uint64_t kCodeFileVaddr = 0x401000;

void check(const VmLayout& layout) {
    require(bobbin::luajit::check_layout(layout).has_value());
    const auto rows = bobbin::luajit::make_unwind_rows(layout);
    bobbin::fuzz::check_rows(rows);
    require(!rows.rows.empty() && rows.base_file_vaddr == layout.places.begin_file_vaddr);
    for (std::size_t i = 0; i + 1 < rows.rows.size(); ++i) {
        require(rows.rows[i].rule != bobbin::cfi::UnwindRows::kNoCfiRule);
    }
}

std::optional<VmLayout> find_in_file(const std::uint8_t* data, std::size_t size) {
    static const bobbin::UniqueFd fd(::memfd_create("input", MFD_CLOEXEC));
    require(::ftruncate(fd.get(), 0) == 0);
    require(::pwrite(fd.get(), data, size, 0) == static_cast<ssize_t>(size));
    const auto file = bobbin::elf::FileBytes::of_fd(fd.get());
    require(file.has_value());
    const bobbin::elf::LoadSegment segment{0, size, kCodeFileVaddr, size, true};
    const auto found = bobbin::luajit::find_vm(*file, std::span(&segment, 1), {});
    return found ? *found : std::nullopt;
}

}  // namespace

// The input is code.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto code = std::as_bytes(std::span(data, size));
    const auto alone = bobbin::luajit::read_layout({code, kCodeFileVaddr, std::nullopt});
    if (alone) check(*alone);
    const bobbin::luajit::VaddrRange all{kCodeFileVaddr, kCodeFileVaddr + size};
    const auto with_range = bobbin::luajit::read_layout({code, kCodeFileVaddr, all});
    if (with_range) check(*with_range);
    const auto in_file = find_in_file(data, size);
    if (in_file) check(*in_file);
    return 0;
}

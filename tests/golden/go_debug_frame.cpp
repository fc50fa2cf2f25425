// SPDX-License-Identifier: Apache-2.0
#include "golden/go_debug_frame.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>

#include <array>
#include <cstddef>
#include <cstdlib>

#include "base/unique_fd.h"

namespace bobbin::test {
namespace {

constexpr Dwarf_Word kRsp = 7;
constexpr int kReturnAddress = 16;

bool return_address_is_below_cfa(Dwarf_Frame* frame) {
    std::array<Dwarf_Op, 3> memory{};
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    if (::dwarf_frame_register(frame, kReturnAddress, memory.data(), &ops, &count) != 0)
        return false;
    return count == 2 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst &&
           static_cast<std::int64_t>(ops[1].number) == -8;
}

}  // namespace

struct DebugFrame::Handles {
    UniqueFd fd;
    Dwarf* dwarf = nullptr;
    Dwarf_CFI* cfi = nullptr;  // of `dwarf`
};

DebugFrame::DebugFrame(const std::string& path) : handles_(std::make_unique<Handles>()) {
    handles_->fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    handles_->dwarf = ::dwarf_begin(handles_->fd.get(), DWARF_C_READ);
    if (handles_->dwarf != nullptr) handles_->cfi = ::dwarf_getcfi(handles_->dwarf);
}

DebugFrame::~DebugFrame() { ::dwarf_end(handles_->dwarf); }

bool DebugFrame::is_open() const { return handles_->cfi != nullptr; }

std::optional<DebugFrameRow> DebugFrame::row_at(std::uint64_t file_vaddr) const {
    Dwarf_Frame* found = nullptr;
    if (::dwarf_cfi_addrframe(handles_->cfi, file_vaddr, &found) != 0) return std::nullopt;
    const std::unique_ptr<Dwarf_Frame, void (*)(void*)> frame(found, ::free);
    DebugFrameRow row;
    ::dwarf_frame_info(frame.get(), &row.start_file_vaddr, &row.end_file_vaddr, nullptr);
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    if (::dwarf_frame_cfa(frame.get(), &ops, &count) != 0 || count != 1) return row;
    row.is_plain = ops[0].atom == DW_OP_bregx && ops[0].number == kRsp &&
                   return_address_is_below_cfa(frame.get());
    row.cfa_offset = static_cast<std::int64_t>(ops[0].number2);
    return row;
}

}  // namespace bobbin::test

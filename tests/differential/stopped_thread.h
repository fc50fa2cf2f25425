// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpf_host/traced_mappings.h"
#include "bpf_host/traced_process.h"

namespace bobbin::test {

// What all unwinders are given: registers and memory of one thread at one instruction.
class StoppedThread {
public:
    // Copies the stack from a little below rsp upwards; what lies further away is read when it is
    // asked for, from the process, which stays stopped as long as the object is used.
    StoppedThread(const TracedProcess& process, const std::vector<TracedMapping>& mappings,
                  pid_t thread);

    [[nodiscard]] const WalkRegisters& registers() const { return registers_; }
    [[nodiscard]] pid_t thread() const { return thread_; }
    [[nodiscard]] std::uint64_t pc_vaddr() const { return registers_[16]; }
    [[nodiscard]] std::uint64_t stack_vaddr() const { return stack_vaddr_; }
    [[nodiscard]] const std::vector<std::byte>& stack() const { return stack_; }
    [[nodiscard]] bool read(std::uint64_t vaddr, std::span<std::byte> to) const;

private:
    const TracedProcess& process_;
    pid_t thread_;
    WalkRegisters registers_;
    std::uint64_t stack_vaddr_ = 0;
    std::vector<std::byte> stack_;
};

}  // namespace bobbin::test

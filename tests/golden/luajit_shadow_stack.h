// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "luajit/vm_layout.h"

namespace bobbin::test {

// A call that has not returned: where its return address lies, and the caller's rbp.
struct OpenCall {
    std::uint64_t return_address_vaddr = 0;
    std::uint64_t caller_rbp = 0;

    [[nodiscard]] std::uint64_t cfa() const { return return_address_vaddr + 8; }
};

// A LuaJIT that runs one instruction at a time while it is in the VM or in a trace, and the calls
// it is seen to make: a word that is pushed and is the address behind the instruction that pushed
// it is a return address. What lies below rsp is gone, whether by a return, a jump or an exception.
// C is run through, up to where it returns, comes into the VM by one of its entries, or throws.
class SteppedLuajit {
public:
    // Runs `command` up to its first entry into the VM of `path`, the program itself.
    SteppedLuajit(const std::vector<std::string>& command, const std::string& path,
                  const luajit::VmPlaces& places);
    ~SteppedLuajit();
    SteppedLuajit(const SteppedLuajit&) = delete;
    SteppedLuajit& operator=(const SteppedLuajit&) = delete;

    bool step();  // false: it has ended
    [[nodiscard]] const user_regs_struct& registers() const { return registers_; }
    [[nodiscard]] std::uint64_t file_vaddr() const { return registers_.rip - load_bias_; }
    [[nodiscard]] std::uint64_t read_word(std::uint64_t vaddr) const;
    // The innermost last.
    [[nodiscard]] const std::vector<OpenCall>& calls() const { return calls_; }

private:
    bool run_to(const std::vector<std::uint64_t>& vaddrs);
    bool run_through_c();
    bool run_one();
    bool wait_for_stop();
    void write_byte(std::uint64_t vaddr, std::uint8_t byte) const;
    [[nodiscard]] bool is_in_c() const;
    void drop_what_is_gone();

    pid_t pid_ = -1;
    std::uint64_t load_bias_ = 0;
    luajit::VmPlaces places_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> code_of_files_;
    user_regs_struct registers_{};
    std::vector<OpenCall> calls_;
    bool called_c_ = true;
    bool ended_ = false;
};

}  // namespace bobbin::test

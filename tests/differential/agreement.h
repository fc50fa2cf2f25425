// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bpf_host/traced_process.h"
#include "bpf_host/walk_tables.h"
#include "differential/libdw_oracle.h"
#include "differential/visit_stops.h"

namespace bobbin::test {

// What came of the comparison, in steps from a frame to its caller; the end of a stack is a step,
// too. The leaf is given, not found, and never counted.
struct Agreement {
    std::uint64_t stops = 0;
    std::set<std::uint64_t> distinct_pcs;
    std::uint64_t equal = 0;         // as libdw says
    std::uint64_t as_libunwind = 0;  // libdw says otherwise or gives up, libunwind says the same
    // As neither says, or we ended where one of them goes on, or we found CFI where there is none.
    std::uint64_t differing = 0;
    std::uint64_t as_entered = 0;        // no oracle has CFI there: as the stack was at the entry
    std::uint64_t unjudged = 0;          // both oracles gave up
    std::uint64_t without_cfi = 0;       // stacks that were compared only up to such code
    std::uint64_t without_go_rules = 0;  // only up to Go's assembly
    std::map<std::string, std::uint64_t> unequal_by_class;
    std::map<std::string, std::uint64_t> ends;  // of ours, by reason
    std::vector<std::string> examples;          // the first of each class of differences

    [[nodiscard]] std::uint64_t compared() const { return equal + as_libunwind + differing; }
};

// Walks each stop with the unwinder of bpf/ and with the oracles. The rule: a step that libdw does
// not confirm is a difference unless libunwind confirms it. Code without CFI ends the comparison of
// its stack: from there on everybody guesses. That there is none libdw has to say, too.
class AgreementCheck : public StopVisitor {
public:
    AgreementCheck(const TracedProcess& process, WalkTables& tables)
        : process_(process), tables_(tables), libdw_(process) {}

    void on_mappings(const std::vector<TracedMapping>& mappings) override;
    void on_stop(const StoppedThread& thread) override;
    [[nodiscard]] const Agreement& result() const { return result_; }

private:
    struct OurStack;
    OurStack walk(const StoppedThread& thread);
    // true: a frame whose caller was found by CFI is in code of which libdw knows none. Right where
    // it is _init or _fini, and leads where these were called from.
    bool judge_invented_rules(const StoppedThread& thread, const OurStack& ours);
    void note_entry(const StoppedThread& thread);
    bool has_cfi(std::uint64_t vaddr);
    void judge(const StoppedThread& thread, const OurStack& ours, const OracleStack& libdw);
    void ask_libunwind(const StoppedThread& thread, const OurStack& ours, const OracleStack& libdw,
                       std::size_t at);
    // Frames that lie in no code are none: an oracle that found one is at its end.
    void cut_outside_code(OracleStack& stack) const;
    void note(const StoppedThread& thread, const std::string& what, std::uint64_t caller_of_vaddr,
              const std::string& frames);
    [[nodiscard]] std::string place(std::uint64_t vaddr) const;

    const TracedProcess& process_;
    WalkTables& tables_;
    LibdwOracle libdw_;
    std::vector<TracedMapping> mappings_;
    std::vector<user_walk::walk_mapping> walk_mappings_;
    std::uint64_t vdso_vaddr_ = 0;
    std::uint64_t start_stack_vaddr_ = 0;
    std::map<std::uint64_t, bool> has_cfi_;  // by address, of the present mappings
    std::set<std::uint64_t> noted_places_;
    // Of the last start code that was entered.
    std::uint64_t entry_vaddr_ = 0;
    std::uint64_t entry_return_vaddr_ = 0;
    Agreement result_;
};

}  // namespace bobbin::test

// SPDX-License-Identifier: Apache-2.0
#include "differential/visit_stops.h"

#include <array>
#include <optional>
#include <span>

#include "differential/function_starts.h"

namespace bobbin::test {
namespace {

constexpr std::size_t kFunctionsOfAFile = 4000;
constexpr std::size_t kStartSteps = 500;
constexpr std::size_t kShortBlock = 24;
constexpr std::size_t kLongBlock = 160;

class Visit {
public:
    Visit(TracedProcess& process, std::size_t most_stops, StopVisitor& visitor)
        : process_(process), stops_left_(most_stops), visitor_(visitor) {}

    void run() {
        refresh_mappings();
        // A static program begins where the others are when ld.so has done its work.
        const std::array entry{process_.entry_vaddr()};
        std::optional<pid_t> thread = process_.pid();
        if (TracedProcess::registers(*thread)[16] != entry[0]) {
            if (!step_block(*thread, kStartSteps)) return;
            process_.set_breakpoints(entry);
            thread = process_.run_to_breakpoint();
        }
        for (std::size_t hits = 0; thread && stops_left_ != 0; ++hits) {
            refresh_mappings();
            process_.set_breakpoints(functions_.new_in(mappings_));
            if (is_wanted(hits)) {
                step_block(*thread, ++blocks_ % 4 == 0 ? kLongBlock : kShortBlock);
            }
            thread = process_.run_to_breakpoint();
        }
    }

private:
    // All of the first functions, then ever fewer, so that a long program is seen to its end.
    static bool is_wanted(std::size_t hits) {
        constexpr std::size_t kAllOfTheFirst = 30;
        return hits % (1 + hits / kAllOfTheFirst) == 0;
    }

    void refresh_mappings() {
        auto mappings = read_mappings(process_.pid());
        if (mappings == mappings_) return;
        mappings_ = std::move(mappings);
        visitor_.on_mappings(mappings_);
    }

    bool step_block(pid_t thread, std::size_t steps) {
        for (; steps != 0 && stops_left_ != 0; --steps, --stops_left_) {
            const StoppedThread stopped(process_, mappings_, thread);
            visitor_.on_stop(stopped);
            if (!process_.step(thread)) return false;
            // `syscall` leaves the address behind it in rcx: it may have been mmap.
            const WalkRegisters after = TracedProcess::registers(thread);
            if (after[2] == after[16]) refresh_mappings();
        }
        return true;
    }

    TracedProcess& process_;
    std::size_t stops_left_;
    std::size_t blocks_ = 0;
    StopVisitor& visitor_;
    FunctionStarts functions_{kFunctionsOfAFile};
    std::vector<TracedMapping> mappings_;
};

}  // namespace

void visit_stops(TracedProcess& process, std::size_t most_stops, StopVisitor& visitor) {
    Visit(process, most_stops, visitor).run();
}

}  // namespace bobbin::test

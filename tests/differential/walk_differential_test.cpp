// SPDX-License-Identifier: Apache-2.0
// The unwinder of bpf/, compiled for the host, against libdw and libunwind on real programs: each
// walks the same registers and the same memory of a thread stopped somewhere.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "bpf_host/traced_process.h"
#include "bpf_host/walk_tables.h"
#include "differential/agreement.h"
#include "differential/programs.h"
#include "differential/visit_stops.h"

namespace bobbin::test {
namespace {

constexpr std::size_t kStopsOfAProgram = 6000;
constexpr std::uint64_t kLeastCompared = 5000;

class WalkDifferential : public testing::TestWithParam<TestedProgram> {};

void print(const std::string& name, const Agreement& result) {
    fmt::print(
        "{:12} {:6} stops {:6} pcs {:8} equal {:5} as libunwind {:4} differing {:4} unjudged"
        " {:4} as entered {:4} without CFI {:4} Go assembly  ends {}\n",
        name, result.stops, result.distinct_pcs.size(), result.equal, result.as_libunwind,
        result.differing, result.unjudged, result.as_entered, result.without_cfi,
        result.without_go_rules, fmt::join(result.ends, " "));
    for (const auto& [what, count] : result.unequal_by_class) {
        fmt::print("    {:5} stops: {}\n", count, what);
    }
    for (const auto& example : result.examples) fmt::print("    {}\n", example);
}

TEST_P(WalkDifferential, StepsAsTheOraclesDo) {
    TracedProcess process(GetParam().arguments);
    WalkTables tables;
    AgreementCheck check(process, tables);
    visit_stops(process, kStopsOfAProgram, check);
    const Agreement& result = check.result();
    print(GetParam().name, result);
    EXPECT_EQ(tables.refused(), std::vector<std::string>{});
    EXPECT_GE(result.compared(), kLeastCompared);
    EXPECT_LE(result.differing, result.compared() / 10000);
}

INSTANTIATE_TEST_SUITE_P(Programs, WalkDifferential, testing::ValuesIn(programs_here()),
                         [](const auto& one) {
                             std::string name = one.param.name;
                             for (char& c : name) c = c == '-' ? '_' : c;
                             return name;
                         });

TEST(WalkDifferentialPrograms, AreAtLeastTwenty) { EXPECT_GE(programs_here().size(), 20U); }

}  // namespace
}  // namespace bobbin::test

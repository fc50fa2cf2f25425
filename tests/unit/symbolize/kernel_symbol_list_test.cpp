// SPDX-License-Identifier: Apache-2.0
#include "symbolize/kernel_symbol_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace bobbin::symbolize {
namespace {

// Not in order, as the list of a real kernel is not: modules and BPF programs come last.
constexpr const char* kKernel =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 t do_work\n"
    "ffffffff81000200 T __x64_sys_read\n"
    "ffffffff82000000 T _etext\n"
    "ffffffff82400000 D __start_rodata\n"
    "not a line\n"
    "ffffffffc0200000 t nft_do_chain\t[nf_tables]\n"
    "ffffffffc0200800 d nft_counter\t[nf_tables]\n"
    "ffffffffc0201000 T nft_register\t[nf_tables]\n"
    "ffffffffc0000400 t bpf_prog_6deef7357e7b4530_sd_fw\t[bpf]";

KernelSymbolList list_of(const std::string& text) {
    std::istringstream stream(text);
    return KernelSymbolList::read(stream);
}

// read_kallsyms() finds names in another way: by one pass over the text for given addresses.
TEST(KernelSymbolListTest, NamesWhatTheTextNames) {
    std::vector<std::uint64_t> addresses{0, 0x1000, 0xffffffffffffffff};
    for (const std::uint64_t base : {0xffffffff81000000, 0xffffffff81000100, 0xffffffff81000200,
                                     0xffffffff82000000, 0xffffffff82400000, 0xffffffffc0200000,
                                     0xffffffffc0200800, 0xffffffffc0201000, 0xffffffffc0000400}) {
        for (const std::uint64_t offset : {-1LL, 0LL, 1LL, 0xfffffLL, 0x100000LL}) {
            addresses.push_back(base + offset);
        }
    }
    std::ranges::sort(addresses);
    std::istringstream text(kKernel);
    const KernelNames expected = read_kallsyms(text, addresses);
    const KernelNames found = list_of(kKernel).find(addresses);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        SCOPED_TRACE(testing::Message() << std::hex << addresses[i]);
        EXPECT_EQ(found.functions[i].name, expected.functions[i].name);
        EXPECT_EQ(found.functions[i].module, expected.functions[i].module);
    }
    EXPECT_EQ(found
                  .functions[static_cast<std::size_t>(
                      std::ranges::find(addresses, 0xffffffff81000101) - addresses.begin())]
                  .name,
              "do_work");
    EXPECT_EQ(found.image_start, expected.image_start);
    ASSERT_EQ(found.range_by_module.size(), expected.range_by_module.size());
}

TEST(KernelSymbolListTest, KnowsWhereTheCoreKernelIs) {
    const AddressRange core = list_of(kKernel).core();
    EXPECT_EQ(core.start, 0xffffffff81000000);
    EXPECT_EQ(core.end, 0xffffffff82000000);
}

TEST(KernelSymbolListTest, OfAKernelThatHidesAddressesNamesNothing) {
    const KernelSymbolList list = list_of("0000000000000000 T _stext\n0000000000000000 t f\n");
    const std::vector<std::uint64_t> addresses{0, 0xffffffff81000000};
    for (const KernelFunction& function : list.find(addresses).functions) {
        EXPECT_EQ(function.name, "");
    }
}

TEST(KernelSymbolListTest, OfNothingNamesNothing) {
    const std::vector<std::uint64_t> addresses{1};
    EXPECT_EQ(list_of("").find(addresses).functions.at(0).name, "");
}

}  // namespace
}  // namespace bobbin::symbolize

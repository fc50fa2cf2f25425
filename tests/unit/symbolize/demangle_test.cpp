// SPDX-License-Identifier: Apache-2.0
#include "symbolize/demangle.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bobbin::symbolize {
namespace {

struct KnownName {
    std::string mangled;
    std::string expected;
};

void expect_all(const std::vector<KnownName>& names, DemangleStyle style = DemangleStyle::kFull) {
    for (const KnownName& name : names) {
        EXPECT_EQ(demangle(name.mangled, style), name.expected);
        EXPECT_TRUE(may_be_mangled(name.mangled) || name.mangled == name.expected);
    }
}

// Examples of the Itanium C++ ABI, section 5.1 "External Names", and `c++filt -i`.
TEST(Demangle, ReadsCplusplus) {
    expect_all({
        {"_Z1fv", "f()"},
        {"_ZN5StackIiiE5levelE", "Stack<int, int>::level"},
        {"_Z3foo5Hello5WorldS0_S_", "foo(Hello, World, World, Hello)"},
        {"_Z1fI1XEvPVN1AIT_E1TE", "void f<X>(A<X>::T volatile*)"},
        {"_ZN3foo3barEi.isra.0", "foo::bar(int) [clone .isra.0]"},
        {"_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]"},
        {"_ZN3foo3barEi@plt", "foo::bar(int)@plt"},
        {"write@plt", "write@plt"},
    });
}

// Examples of the tests of the rustc-demangle crate, which rustc itself uses.
TEST(Demangle, ReadsLegacyRustWithoutItsHash) {
    expect_all({
        {"_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"},
        {"_ZN12test$BP$test4foob17h05af221e174051e9E", "test*test::foob"},
        {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar"
         "17h930b740aa94f1d3aE",
         "<Test + 'static as foo::Bar<Test>>::bar"},
    });
}

// Examples of Rust RFC 2603 and of the tests of the rustc-demangle crate.
TEST(Demangle, ReadsRustVersion0) {
    expect_all({
        {"_RNvC6_123foo3bar", "123foo::bar"},
        {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
        {"_RINvNtC3std3mem8align_ofjEC3foo", "std::mem::align_of::<usize>"},
        {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
        {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
         "utf8_idents::საჭმელად_გემრიელი_სადილი"},
    });
}

// The D language's specification, "Name Mangling".
TEST(Demangle, ReadsDlang) {
    expect_all({
        {"_Dmain", "D main"},
        {"_D8demangle4testFZv", "demangle.test()"},
        {"_D8demangle4testFaZv", "demangle.test(char)"},
    });
}

// `c++filt -p`: "do not display function argument types"; [clone ...] goes with them.
TEST(Demangle, LeavesOutParametersOfCplusplusWhenSimplified) {
    expect_all(
        {
            {"_Z1fv", "f"},
            {"_Z1fI1XEvPVN1AIT_E1TE", "f<X>"},
            {"_ZNSt6vectorIiSaIiEE9push_backERKi",
             "std::vector<int, std::allocator<int> >::push_back"},
            {"_ZNK3foo3barEv", "foo::bar"},
            {"_ZN3foocviEv", "foo::operator int"},
            {"_ZN12_GLOBAL__N_13barEv", "(anonymous namespace)::bar"},
            {"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()"},
            {"_ZN3foo3barEi.isra.0", "foo::bar"},
            {"_ZN3foo3barEi.cold@plt", "foo::bar@plt"},
        },
        DemangleStyle::kSimplified);
}

TEST(Demangle, LeavesOutParametersOfDlangWhenSimplified) {
    expect_all(
        {
            {"_Dmain", "D main"},
            {"_D8demangle4testFaZv", "demangle.test"},
            {"_D8demangle4testMxFZv", "demangle.test"},
            {"_D8demangle9__T4testZv", "demangle.test!()"},
        },
        DemangleStyle::kSimplified);
}

// Rust's names have no parameters.
TEST(Demangle, SimplifiesNothingOfRust) {
    expect_all(
        {
            {"_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"},
            {"_RINvNtC3std3mem8align_ofjEC3foo", "std::mem::align_of::<usize>"},
        },
        DemangleStyle::kSimplified);
}

TEST(Demangle, GivesNamesAsTheyAreWhenAskedTo) {
    for (const std::string name : {"_Z1fv", "_RNvC6_123foo3bar", "_Dmain", "main"}) {
        EXPECT_EQ(demangle(name, DemangleStyle::kNone), name);
    }
}

// A C function may be called so; libiberty without parameters would take "_Z1fFOO" for f.
TEST(Demangle, TakesNoBeginningForTheWhole) {
    for (const std::string name : {"_Z1fFOO", "_ZN3fooE!", "_Z3foo"}) {
        const std::string expected = name == "_Z3foo" ? "foo" : name;
        EXPECT_EQ(demangle(name, DemangleStyle::kSimplified), expected);
    }
}

// Of Swift's own manual, docs/ABI/Mangling.rst: "foo.bar() -> ()", and older prefixes.
TEST(Demangle, LeavesSwiftAsItIs) {
    for (const std::string name : {"$s3foo3baryyF", "_$s3foo3baryyF", "$S3foo3baryyF",
                                   "_T03foo3baryyF", "_TF3foo3barFT_T_"}) {
        EXPECT_EQ(demangle(name, DemangleStyle::kSimplified), name);
        EXPECT_EQ(demangle(name, DemangleStyle::kFull), name);
    }
}

TEST(Demangle, LeavesOtherNamesAsTheyAre) {
    for (const std::string name :
         {"", "main", "_start", "_Z", "_Zfoo", "_R", "_RNvC", "_D", "_DYNAMIC",
          "_GLOBAL_OFFSET_TABLE_", "operator new", "_ZN3foo"}) {
        EXPECT_EQ(demangle(name), name);
    }
}

// X<i,i>, then thirty times X<previous, previous>: 2^30 times the text of the first.
TEST(Demangle, GivesUpOnNamesThatDoubleThemselves) {
    const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string name = "_Z1f1XIiiES_IS0_S0_E";
    for (std::size_t i = 1; i < 31; ++i) {
        const std::string previous = {'S', digits[i], '_'};
        name += "S_I" + previous + previous + "E";
    }
    EXPECT_EQ(demangle(name), name);
}

// An associative array whose key and value both refer back to the one before; D refers back by the
// distance in base 26, the last digit in lower case.
TEST(Demangle, GivesUpOnDlangNamesThatDoubleThemselves) {
    std::string name = "_D1fFHii";
    for (int i = 0; i < 60; ++i) name += i == 0 ? "HQeQg" : "HQgQi";
    name += "Zv";
    EXPECT_EQ(demangle(name), name);
}

TEST(Demangle, StopsAtHostileDepth) {
    for (const std::string& deep :
         {"_Z1f" + std::string(4000, 'P') + "i", "_Z" + std::string(4000, 'N'),
          "_RMC0" + std::string(4000, 'R') + "m", "_ZN" + std::string(4000, '1') + "E"}) {
        EXPECT_EQ(demangle(deep), deep);
    }
    const std::string arrays = "_D1fF" + std::string(1000, 'A') + "iZv";
    EXPECT_EQ(demangle(arrays, DemangleStyle::kFull).substr(0, 4), "f(in");
    EXPECT_EQ(demangle(arrays), "f");
}

TEST(Demangle, LeavesNamesBeyondItsLimitAsTheyAre) {
    const std::string name = "_Z5000" + std::string(5000, 'a') + "v";
    EXPECT_EQ(demangle(name), name);
}

}  // namespace
}  // namespace bobbin::symbolize

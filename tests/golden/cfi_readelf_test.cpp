// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cfi/eh_frame.h"
#include "cfi/merge_rows.h"
#include "golden/cfi_readelf_rows.h"
#include "golden/cfi_system_binaries.h"

namespace bobbin::test {
namespace {

class AgreesWithReadelf : public testing::TestWithParam<const char*> {};

TEST_P(AgreesWithReadelf, AtEveryLineItPrints) {
    expect_agreement(run_readelf(GetParam()), read_rows(GetParam()), GetParam());
}

// libgcrypt has CFA expressions that are followed by DW_CFA_def_cfa_register, which libdw refuses.
INSTANTIATE_TEST_SUITE_P(SystemBinaries, AgreesWithReadelf,
                         testing::Values("/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/bash",
                                         "/lib64/ld-linux-x86-64.so.2",
                                         "/usr/lib/x86_64-linux-gnu/libgcrypt.so.20"));

// Two objects in one library: the first has .eh_frame, the second only .debug_frame.
class BuiltLibrary {
public:
    explicit BuiltLibrary(const std::string& flags) {
        std::string pattern = std::filesystem::temp_directory_path() / "bobbin-cfi-XXXXXX";
        EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
        std::ofstream(directory_ / "functions.c")
            << "typedef float wide __attribute__((vector_size(32)));\n"
               "void NAME(take)(void *, int, int, int, int, int, int, int);\n"
               "int NAME(leaf)(int x) { return x * 3; }\n"
               "void NAME(frame)(int n) { char a[200]; NAME(take)(a, n, 1, 2, 3, 4, 5, 6); }\n"
               "void NAME(large)(int n) { char a[70000]; NAME(take)(a, n, 1, 2, 3, 4, 5, 6); }\n"
               "void NAME(dynamic)(int n) { char a[n]; NAME(take)(a, n, 1, 2, 3, 4, 5, 6); }\n"
               "void NAME(aligned)(int n) { wide a; NAME(take)(&a, n, 1, 2, 3, 4, 5, 6); }\n"
               "int NAME(loop)(int *p, int n) { int sum = 0; for (int i = 0; i < n; ++i) {\n"
               "  NAME(take)(p + i, n, i, sum, 3, 4, 5, 6); sum += p[i]; } return sum; }\n"
               "int NAME(branch)(int n) { if (n > 9) return n; NAME(frame)(n);\n"
               "  if (n > 3) return NAME(leaf)(n); NAME(large)(n); return n + 1; }\n";
        const std::string compile = "cd '" + directory_.string() + "' && gcc -c -fPIC functions.c ";
        const std::string link = " && gcc -shared -nostdlib first.o second.o -o library.so";
        run(compile + flags + " -DNAME\\(x\\)=first_##x -o first.o && " + compile + flags +
            " -g -fno-asynchronous-unwind-tables -DNAME\\(x\\)=second_##x -o second.o" + link);
    }
    ~BuiltLibrary() {
        std::error_code error;
        std::filesystem::remove_all(directory_, error);
    }
    BuiltLibrary(const BuiltLibrary&) = delete;
    BuiltLibrary& operator=(const BuiltLibrary&) = delete;

    [[nodiscard]] std::string path() const { return directory_ / "library.so"; }

private:
    static void run(const std::string& command) {
        EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }

    std::filesystem::path directory_;
};

TEST(ReadDebugFrame, BehindEhFrameAgreesWithReadelfOnBoth) {
    for (const char* flags : {"-O0", "-O2", "-O2 -fno-omit-frame-pointer -gdwarf64", "-O1 -gz"}) {
        const BuiltLibrary library(flags);
        const cfi::EhFrame in_front = read_rows(library.path());
        const cfi::EhFrame behind = read_debug_rows(library.path());
        constexpr std::uint64_t kFunctions = 7;
        EXPECT_GE(in_front.fde_count, kFunctions) << flags;  // and .plt
        EXPECT_EQ(behind.fde_count, kFunctions) << flags;
        cfi::EhFrame both;
        both.unwind = cfi::merge_rows(in_front.unwind, behind.unwind);
        both.fde_count = in_front.fde_count + behind.fde_count;
        expect_agreement(run_readelf(library.path()), both, flags);
    }
}

}  // namespace
}  // namespace bobbin::test

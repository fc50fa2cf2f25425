// SPDX-License-Identifier: Apache-2.0
#include "differential/programs.h"

#include <unistd.h>

#include <algorithm>

namespace bobbin::test {
namespace {

const std::string kSource = BOBBIN_DIFFERENTIAL_SOURCE;
const std::string kObject = "/proc/self/exe";
const std::string kFixtures = BOBBIN_FIXTURES_DIR "/";
constexpr const char* kCompiler = "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus";
constexpr const char* kBashLoop =
    "f() { local i; for i in 1 2 3; do x=${x/$1/$i}; [[ $x =~ a.*$i ]]; done; }; "
    "for n in {1..40}; do x=abc$n; f b; printf -v y '%s %d' \"$x\" \"$n\"; done; declare -p";
constexpr const char* kPerlLoop =
    "my %h; for (1..400) { my $s = sprintf('%05d-%s', $_, 'x' x ($_ % 7)); $s =~ "
    "s/(\\d)(\\d)/$2$1/g;"
    " $h{$s} = [split /-/, $s]; } print join ',', sort { $a cmp $b } keys %h;";
constexpr const char* kPythonLoop =
    "import json, re, collections, struct, zlib\n"
    "def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\n"
    "d = {str(i): [i, i * 1.5, 'x' * (i % 5)] for i in range(200)}\n"
    "s = json.dumps(d, indent=1); json.loads(s); re.findall(r'(\\d+)\\.5', s)\n"
    "sorted(d, key=lambda k: -int(k)); f(12); zlib.compress(s.encode()); struct.pack('<qd', 1, "
    "2.0)\n"
    "try: 1 / 0\nexcept ZeroDivisionError as e: repr(e)\n";

std::vector<TestedProgram> all_programs() {
    return {
        {"bash", {"/bin/bash", "--norc", "-c", kBashLoop}},
        {"dash", {"/bin/dash", "-c", "i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done; set"}},
        {"perl", {"/usr/bin/perl", "-e", kPerlLoop}},
        {"python3", {"/usr/bin/python3", "-S", "-c", kPythonLoop}},
        {"gdb", {"/usr/bin/gdb", "--batch", "-nx", "-ex", "p 6*7", "-ex", "info line main"}},
        {"cmake", {"/usr/bin/cmake", "--help-full"}},
        {"cc1plus",
         {kCompiler, "-quiet", "-O2", "-std=c++20", "-imultiarch", "x86_64-linux-gnu", "-I",
          BOBBIN_DIFFERENTIAL_INCLUDE, kSource, "-o", "/dev/null"}},
        {"as", {"/usr/bin/as", "--version"}},
        {"ld", {"/usr/bin/ld", "--verbose"}},
        {"readelf", {"/usr/bin/readelf", "-aW", kObject}},
        {"objdump", {"/usr/bin/objdump", "-d", "--no-show-raw-insn", "/bin/true"}},
        {"nm", {"/usr/bin/nm", "-C", "-D", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"}},
        {"sort", {"/usr/bin/sort", "-n", "-k2", kSource}},
        {"grep", {"/bin/grep", "-nE", "(ab|c)*[a-f]{2,}x?", kSource}},
        {"sed", {"/bin/sed", "-E", "s/([a-z]+)_([a-z]+)/\\2_\\1/g", kSource}},
        {"awk",
         {"/usr/bin/awk",
          "{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) print w, n[w] }", kSource}},
        {"find",
         {"/usr/bin/find", "/usr/share/doc", "-maxdepth", "1", "-name", "*a*", "-printf",
          "%p %s\\n"}},
        {"ls", {"/bin/ls", "-lR", "/usr/share/perl5"}},
        {"xz", {"/usr/bin/xz", "-c", "-1", kSource}},
        {"gzip", {"/bin/gzip", "-c", kSource}},
        {"tar", {"/bin/tar", "-cf", "/dev/fd/1", "/usr/share/perl5"}},
        {"openssl-rsa", {"/usr/bin/openssl", "genrsa", "1024"}},
        {"openssl-sha", {"/usr/bin/openssl", "dgst", "-sha512", kSource}},
        {"openssl-aes",
         {"/usr/bin/openssl", "enc", "-aes-256-ctr", "-pbkdf2", "-pass", "pass:x", "-in", kSource}},
        {"git", {"/usr/bin/git", "--no-pager", "hash-object", kSource}},
        {"ripgrep", {"/usr/bin/rg", "--no-config", "-n", "[a-z]+_[a-z]+\\(", kSource}},
        {"date", {"/bin/date"}},
        {"exceptions", {kFixtures + "exceptions.gcc.pie", "0.05"}},
        {"exceptions-static", {kFixtures + "exceptions.clang.static", "0.05"}},
        {"signals", {kFixtures + "signals.gcc.pie", "0.05"}},
        {"coroutines", {kFixtures + "coroutines.gcc.pie", "0.05"}},
        {"vfork", {kFixtures + "vfork_often.gcc.pie", "0.05"}},
        {"realigned", {kFixtures + "realigned_chain.gcc.pie", "0.05"}},
        {"plt", {kFixtures + "plt_caller.gcc.ibt", "0.05"}},
        {"rust", {kFixtures + "known_chain_rust", "0.05"}},
        {"go", {BOBBIN_DIFFERENTIAL_GO}},
    };
}

}  // namespace

std::vector<TestedProgram> programs_here() {
    auto programs = all_programs();
    std::erase_if(programs, [](const TestedProgram& program) {
        return ::access(program.arguments[0].c_str(), X_OK) != 0;
    });
    return programs;
}

}  // namespace bobbin::test

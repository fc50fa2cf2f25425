// SPDX-License-Identifier: Apache-2.0
#include "report/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/base_name.h"

namespace bobbin::report {
namespace {

using Kind = Problem::Kind;

bool is_file(const ModuleFacts& module) { return module.module.starts_with('/'); }

// glibc's files, known without asking dpkg.
bool is_of_glibc(std::string_view path) {
    constexpr std::array<std::string_view, 8> kFiles{
        "libc.so.6",  "ld-linux-x86-64.so.2", "libm.so.6",      "libpthread.so.0",
        "libdl.so.2", "librt.so.1",           "libresolv.so.2", "libmvec.so.1"};
    return std::ranges::find(kFiles, base_name(path)) != kFiles.end();
}

Advice name_generated_code(Runtime runtime) {
    switch (runtime) {
        case Runtime::kNode:
            return {"node names its code when it is asked to", "node --perf-basic-prof ..."};
        case Runtime::kJava:
            return {"Java names its code when it ends; a jitdump agent does so all the time",
                    "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit ..."};
        case Runtime::kPython:
            return {"Python 3.12 and later names its functions when it is asked to",
                    "python3 -X perf ..."};
        case Runtime::kDotnet:
            return {".NET names its code when it is asked to",
                    "DOTNET_PerfMapEnabled=1 dotnet ..."};
        case Runtime::kPhp:
            return {"PHP names its code when it is asked to", "php -d opcache.jit_debug=0x10 ..."};
        case Runtime::kLuajit:
            return {"LuaJIT leaves no names; its interpreter has some", "luajit -joff ..."};
        case Runtime::kNone:
            break;
    }
    return {"what makes this code has to write /tmp/perf-PID.map or a jitdump", {}};
}

Advice install_debug_package(const std::string& package) {
    return {fmt::format("{} has it apart", package),
            "sudo apt install " + debug_package_of(package)};
}

Advice name_kernel(Kind kind, const FileFacts& file) {
    if (kind == Kind::kNames) {
        return {"the kernel hid its addresses", "sudo sysctl kernel.kptr_restrict=0"};
    }
    const std::string release =
        file.kernel_release.empty() ? std::string("$(uname -r)") : file.kernel_release;
    return {"lines are in the kernel's debug package",
            fmt::format("sudo apt install linux-image-{}-dbg", release)};
}

Advice name_file(const ModuleFacts& module, const FileFacts& file, Kind kind) {
    if (file.has_debug_file) {
        return {"its debugging information is installed by now", "sudo bobbin record -d 30"};
    }
    if (is_of_glibc(module.module)) return install_debug_package("libc6");
    if (!file.package.empty()) return install_debug_package(file.package);
    if (!file.was_asked) return {"its package was not looked up", {}};
    return {kind == Kind::kNames ? "build it with -g, and do not strip it" : "build it with -g",
            "gcc -g -O2 ..."};
}

Advice name_module(const ModuleFacts& module, const FileFacts& file, Kind kind) {
    if (module.is_kernel) return name_kernel(kind, file);
    if (is_file(module)) return name_file(module, file, kind);
    if (module.module == "[anon]") return name_generated_code(module.runtime);
    if (module.module == "[jit]" && module.runtime == Runtime::kNode) {
        return {"a perf map has no lines, a jitdump has", "node --perf-prof ..."};
    }
    if (module.module == "[jit]") return {"a perf map has no lines, a jitdump has", {}};
    return {"it is no file that could have more", {}};
}

Advice unwind_generated_code(Runtime runtime) {
    switch (runtime) {
        case Runtime::kJava:
            return {"Java keeps frame pointers when it is asked to",
                    "java -XX:+PreserveFramePointer ..."};
        case Runtime::kPython:
            return {"Python has to be built with frame pointers",
                    "./configure CFLAGS='-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer'"};
        case Runtime::kLuajit:
            return {"LuaJIT's code has no frame pointers, its interpreter is unwound",
                    "luajit -joff ..."};
        case Runtime::kNode:
        case Runtime::kDotnet:
        case Runtime::kPhp:
        case Runtime::kNone:
            break;
    }
    return {"what makes this code has to keep frame pointers", {}};
}

Advice show_rules(const ModuleFacts& module, std::string text) {
    if (!is_file(module)) return {std::move(text), {}};
    // A path that a shell would read otherwise is not pasted.
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
    const bool is_plain = module.module.find_first_not_of(kPlain) == std::string::npos;
    return {std::move(text), is_plain ? "bobbin object-info " + module.module : std::string()};
}

Advice unwind_further(abi::walk_end end, const ModuleFacts& module) {
    switch (end) {
        case abi::WALK_END_FILE_NOT_READY:
            return {"a longer recording has its tables ready", "sudo bobbin record -d 60"};
        case abi::WALK_END_NO_ROOM:
            return {"more room for tables", "sudo bobbin record --max-unwind-memory 1G"};
        case abi::WALK_END_NO_MEMORY:
            return {"more memory for bobbin", "sudo bobbin record --max-memory 2G"};
        case abi::WALK_END_FILES_FULL:
            return {"fewer processes have fewer files", "sudo bobbin record -p PID"};
        case abi::WALK_END_FILE_OUT_OF_SIGHT:
            return {"bobbin sees such files from the host",
                    "docker run --privileged --pid=host IMAGE bobbin record"};
        case abi::WALK_END_FILE_REFUSED:
            return show_rules(module, "build it with -fasynchronous-unwind-tables; what it has:");
        case abi::WALK_END_NO_CFI:
            return {"build it with frame pointers or unwind information",
                    "gcc -fno-omit-frame-pointer -fasynchronous-unwind-tables ..."};
        case abi::WALK_END_ANONYMOUS:
            return unwind_generated_code(module.runtime);
        case abi::WALK_END_UNSUPPORTED_RULE:
        case abi::WALK_END_REGISTER_UNKNOWN:
        case abi::WALK_END_IMPOSSIBLE_FRAME:
            return show_rules(module, "hand-written code, or wrong unwind information:");
        case abi::WALK_END_TRUNCATED:
            return {"a recursion this deep is shown from the inside", {}};
        case abi::WALK_END_32_BIT:
            return {"bobbin walks stacks of 64-bit programs", {}};
        case abi::WALK_END_OTHER_STACK:
            return {"who switched stacks lies on the other one", {}};
        case abi::WALK_END_STACK_UNREADABLE:
            return {"that memory was paged out or is not there", {}};
        default:
            return {"it passes: the process was changing", {}};
    }
}

}  // namespace

std::string debug_package_of(std::string_view package) {
    return fmt::format("{}-{}", package, package == "libc6" ? "dbg" : "dbgsym");
}

Advice advise(const Problem& problem, const ModuleFacts& module, const FileFacts& file) {
    if (problem.kind == Kind::kStacks) return unwind_further(problem.end, module);
    return name_module(module, file, problem.kind);
}

}  // namespace bobbin::report

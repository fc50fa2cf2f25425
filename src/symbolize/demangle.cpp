// SPDX-License-Identifier: Apache-2.0
#include "symbolize/demangle.h"

// libiberty.h declares its own basename(), against <string.h>'s, unless told that there is one.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

namespace bobbin::symbolize {
namespace {

// Never DMGL_NO_RECURSE_LIMIT: the limit is what keeps a hostile name off the end of our stack.
constexpr int kFullOptions = DMGL_PARAMS | DMGL_ANSI;
constexpr int kSimplifiedOptions = DMGL_ANSI;

// libiberty's D demangler takes no callback, so its output cannot be stopped. Its text grows by
// back references only ('Q'): with n of them by at most 3^(n/3), the case of functions of three
// parameters each.
constexpr std::size_t kMaxDlangBytes = 1024;
constexpr std::ptrdiff_t kMaxDlangBackReferences = 24;

using DemangleFunction = int (*)(const char*, int, demangle_callbackref, void*);

struct BoundedText {
    std::jmp_buf too_long{};
    std::size_t size = 0;
    std::array<char, kMaxDemangledBytes> bytes{};
};

// Leaving by longjmp is the only way to stop the demangler before it has printed everything. It is
// C code that owns nothing then, but for the few bytes of a Rust name in punycode.
void append(const char* text, std::size_t size, void* opaque) {
    auto& out = *static_cast<BoundedText*>(opaque);
    // NOLINTNEXTLINE(cert-err52-cpp): an exception must not cross C frames
    if (size > out.bytes.size() - out.size) std::longjmp(out.too_long, 1);
    std::memcpy(out.bytes.data() + out.size, text, size);
    out.size += size;
}

bool print(DemangleFunction function, const char* mangled, int options, BoundedText& out) {
    // NOLINTNEXTLINE(cert-err52-cpp): see append()
    if (setjmp(out.too_long) != 0) return false;
    return function(mangled, options, append, &out) != 0;
}

std::optional<std::string> demangle_with(DemangleFunction function, const std::string& mangled,
                                         int options = kFullOptions) {
    const auto out = std::make_unique<BoundedText>();
    if (!print(function, mangled.c_str(), options, *out) || out->size == 0) return std::nullopt;
    return std::string(out->bytes.data(), out->size);
}

// Without parameters libiberty does not look at what follows the name, so that "_Z1fFOO" is f: the
// whole has to be a C++ name first.
std::optional<std::string> demangle_cplusplus(const std::string& mangled, DemangleStyle style) {
    auto full = demangle_with(::cplus_demangle_v3_callback, mangled);
    if (!full || style == DemangleStyle::kFull) return full;
    auto simplified = demangle_with(::cplus_demangle_v3_callback, mangled, kSimplifiedOptions);
    return simplified ? simplified : full;
}

// "a.b!(int).f(char) const" -> "a.b!(int).f": libiberty prints D's parameters always.
void remove_dlang_parameters(std::string& name) {
    std::size_t depth = 0;
    for (std::size_t i = name.size(); i-- > 0;) {
        if (name[i] == ')') ++depth;
        if (name[i] != '(' || depth == 0) continue;
        --depth;
        if (depth > 0) continue;
        if (i > 0 && name[i - 1] != '!') name.resize(i);
        return;
    }
}

std::optional<std::string> demangle_dlang(const std::string& mangled, DemangleStyle style) {
    if (mangled.size() > kMaxDlangBytes) return std::nullopt;
    if (std::count(mangled.begin(), mangled.end(), 'Q') > kMaxDlangBackReferences) {
        return std::nullopt;
    }
    const std::unique_ptr<char, decltype(&std::free)> text(
        ::dlang_demangle(mangled.c_str(), kFullOptions), &std::free);
    if (text == nullptr || std::strlen(text.get()) > kMaxDemangledBytes) return std::nullopt;
    std::string name(text.get());
    if (style == DemangleStyle::kSimplified) remove_dlang_parameters(name);
    return name;
}

std::optional<std::string> try_demangle(const std::string& name, DemangleStyle style) {
    if (name.starts_with("_R")) return demangle_with(::rust_demangle_callback, name);
    if (name.starts_with("_Z")) {
        // Rust's legacy names are C++ names that end in "17h", 16 hex digits, "E".
        if (auto rust = demangle_with(::rust_demangle_callback, name)) return rust;
        return demangle_cplusplus(name, style);
    }
    if (name.starts_with("_GLOBAL_")) return demangle_cplusplus(name, style);
    if (name.starts_with("_D")) return demangle_dlang(name, style);
    return std::nullopt;
}

}  // namespace

bool may_be_mangled(std::string_view system_name) {
    return system_name.starts_with("_Z") || system_name.starts_with("_R") ||
           system_name.starts_with("_D") || system_name.starts_with("_GLOBAL_");
}

std::string demangle(const std::string& system_name, DemangleStyle style) {
    if (style == DemangleStyle::kNone || system_name.size() > kMaxMangledBytes) return system_name;
    constexpr std::string_view kStub = "@plt";
    if (!system_name.ends_with(kStub))
        return try_demangle(system_name, style).value_or(system_name);
    const std::string target = system_name.substr(0, system_name.size() - kStub.size());
    return try_demangle(target, style).value_or(target).append(kStub);
}

std::vector<std::string> demangle_in_this_process(std::span<const std::string> system_names) {
    std::vector<std::string> names;
    names.reserve(system_names.size());
    for (const std::string& name : system_names) names.push_back(demangle(name));
    return names;
}

}  // namespace bobbin::symbolize

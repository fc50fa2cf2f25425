// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <string>
#include <system_error>
#include <tl/expected.hpp>
#include <utility>

namespace bobbin {

// What was attempted, innermost reason last: "read unwind information of /usr/bin/x: open
// /proc/42/exe: Permission denied". Somebody could act on it; what happens at sample rate is an
// outcome of bpf_abi.h instead, and a broken invariant is an assert.
class Error {
public:
    explicit Error(std::string attempted, std::error_code code = {})
        : attempted_(std::move(attempted)), code_(code) {}

    [[nodiscard]] std::string message() const {
        return code_ ? attempted_ + ": " + code_.message() : attempted_;
    }
    [[nodiscard]] std::error_code code() const { return code_; }

    Error& context(std::string_view attempted) {
        attempted_.insert(0, ": ").insert(0, attempted);
        return *this;
    }

private:
    std::string attempted_;
    std::error_code code_;
};

template <class T = void>
using Result = tl::expected<T, Error>;

// What fail() gives: converts to any Result, and takes context on the way.
class Failure : public tl::unexpected<Error> {
public:
    using tl::unexpected<Error>::unexpected;

    template <class... Args>
    [[nodiscard]] Failure context(fmt::format_string<Args...> format, Args&&... args) && {
        value().context(fmt::format(format, std::forward<Args>(args)...));
        return std::move(*this);
    }
};

template <class... Args>
[[nodiscard]] Failure fail(fmt::format_string<Args...> format, Args&&... args) {
    return Failure(Error(fmt::format(format, std::forward<Args>(args)...)));
}

// The same with the reason of a system call that just failed: `code` is errno or a negated one, as
// libbpf returns it.
template <class... Args>
[[nodiscard]] Failure fail_with(int code, fmt::format_string<Args...> format, Args&&... args) {
    return Failure(Error(fmt::format(format, std::forward<Args>(args)...),
                         std::error_code(code < 0 ? -code : code, std::generic_category())));
}

// Hands an error of a callee on.
[[nodiscard]] inline Failure fail(Error error) { return Failure(std::move(error)); }

}  // namespace bobbin

// BOBBIN_TRY(auto file, open_file(path));  declares `file`, or returns the error to the caller.
// BOBBIN_CHECK(write(x));                   the same for Result<void>.
#define BOBBIN_CONCAT_INNER(a, b) a##b
#define BOBBIN_CONCAT(a, b) BOBBIN_CONCAT_INNER(a, b)
#define BOBBIN_TRY(declaration, ...)                                                       \
    auto BOBBIN_CONCAT(bobbin_result_, __LINE__) = (__VA_ARGS__);                          \
    if (!BOBBIN_CONCAT(bobbin_result_, __LINE__))                                          \
        return ::bobbin::fail(std::move(BOBBIN_CONCAT(bobbin_result_, __LINE__)).error()); \
    declaration = std::move(*BOBBIN_CONCAT(bobbin_result_, __LINE__))
#define BOBBIN_CHECK(...)                                            \
    do {                                                             \
        if (auto bobbin_status = (__VA_ARGS__); !bobbin_status)      \
            return ::bobbin::fail(std::move(bobbin_status).error()); \
    } while (false)

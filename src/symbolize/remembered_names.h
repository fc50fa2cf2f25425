// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolize/name_stacks.h"

namespace bobbin::symbolize {

// Names from one round of naming to the next: a source is asked only for what is not remembered.
// One thread.
//
// Reading a large file for three new addresses may take a second. So a source is left alone for
// kRestFactor times as long as it took, and what is new there stays without names until then: a
// file costs 2 % of a CPU at most. One that could not be read rests, too.
class RememberedNames {
public:
    using Clock = std::chrono::steady_clock;

    // When there are more, all is forgotten: 20 to 40 MB.
    static constexpr std::size_t kMaxAddresses = std::size_t{1} << 16;
    static constexpr std::size_t kMaxDemangled = std::size_t{1} << 16;
    static constexpr int kRestFactor = 50;
    static constexpr std::chrono::seconds kRestOfFailed{10};
    // Generated code is freed and its place used again.
    static constexpr std::chrono::seconds kGeneratedLifetime{60};

    // `now`: for tests.
    explicit RememberedNames(NameSources sources,
                             std::function<Clock::time_point()> now = Clock::now)
        : sources_(std::move(sources)), now_(std::move(now)) {}
    RememberedNames(const RememberedNames&) = delete;
    RememberedNames& operator=(const RememberedNames&) = delete;
    ~RememberedNames() = default;

    // The sources that ask here first; they borrow this.
    NameSources sources();

private:
    struct Object {
        std::unordered_map<std::uint64_t, std::vector<NamedFrame>> by_address;
        Clock::time_point rests_until;
    };
    // A file as the kernel knows it: descriptors are closed and their numbers used again.
    struct CodeMapId {
        dev_t device = 0;
        ino_t inode = 0;
        CodeMapKind kind = CodeMapKind::kJitdump;
        friend auto operator<=>(const CodeMapId&, const CodeMapId&) = default;
    };
    using Ask = std::function<NamesOfEach(std::span<const std::uint64_t> unknown)>;

    NamesOfEach find(Object& object, std::span<const std::uint64_t> addresses, const Ask& ask);
    void learn(Object& object, std::span<const std::uint64_t> unknown, const Ask& ask);
    NamesOfEach name_executable(const executable::Executable& executable,
                                std::span<const std::uint64_t> addresses);
    std::vector<NamedFrame> read_code_map(int fd, CodeMapKind kind,
                                          std::span<const std::uint64_t> addresses);
    std::vector<std::string> demangle(std::span<const std::string> system_names);
    void forget_generated_in_time();
    void make_room();

    NameSources sources_;
    std::function<Clock::time_point()> now_;
    std::unordered_map<std::uint32_t, Object> executables_;  // by id
    std::map<CodeMapId, Object> code_maps_;
    Clock::time_point code_maps_begun_;
    std::size_t address_count_ = 0;  // of all
    std::unordered_map<std::string, std::string> demangled_;
};

}  // namespace bobbin::symbolize

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "aggregate/stack_counts.h"
#include "bobbin/bpf_abi.h"
#include "symbolize/code_maps.h"

namespace bobbin::symbolize {

// Of a place in a file.
inline std::uint32_t executable_id_of(abi::frame_word frame) {
    return static_cast<std::uint32_t>((frame >> FRAME_EXECUTABLE_SHIFT) & FRAME_EXECUTABLE_MASK);
}

// An address in generated code. Two processes have different code at one address; those that do not
// say what it is share one place, since all that can be shown is the address.
struct GeneratedPlace {
    ProcessId process;  // none: of those that do not say
    std::uint64_t vaddr = 0;

    friend auto operator<=>(const GeneratedPlace&, const GeneratedPlace&) = default;
};

// Every distinct frame of a recording once. Numbered from 0 in this order: kernel addresses, places
// in files by (executable id, file offset), places in generated code; each ascending.
class DistinctFrames {
public:
    using NamesItsCode = std::function<bool(const ProcessId&)>;

    // `names_its_code` is asked once a process that has generated code; without it none does.
    explicit DistinctFrames(const aggregate::CountedStacks& counted,
                            const NamesItsCode& names_its_code = {});

    [[nodiscard]] std::size_t size() const {
        return kernel_.size() + files_.size() + generated_.size();
    }
    [[nodiscard]] std::span<const std::uint64_t> kernel_addresses() const { return kernel_; }
    // Without FRAME_BY_FRAME_POINTER: how a frame was found does not make it another place.
    [[nodiscard]] std::span<const abi::frame_word> file_places() const { return files_; }
    [[nodiscard]] std::span<const GeneratedPlace> generated_places() const { return generated_; }

    // Of a frame of `counted`.
    [[nodiscard]] std::uint32_t number_of_kernel(std::uint64_t address) const;
    [[nodiscard]] std::uint32_t number_of_user(const aggregate::SampleOwner& owner,
                                               abi::frame_word frame) const;

private:
    [[nodiscard]] GeneratedPlace place_of(const ProcessId& process, abi::frame_word frame) const;

    std::vector<std::uint64_t> kernel_;
    std::vector<abi::frame_word> files_;
    std::vector<GeneratedPlace> generated_;
    std::set<ProcessId> naming_processes_;
};

}  // namespace bobbin::symbolize

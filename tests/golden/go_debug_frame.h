// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace bobbin::test {

// What libdw says of an address by a file's .debug_frame, compressed or not. Go's has but two
// things: cfa = rsp + cfa_offset, and a return address at cfa - 8.
struct DebugFrameRow {
    std::uint64_t start_file_vaddr = 0;
    std::uint64_t end_file_vaddr = 0;
    std::int64_t cfa_offset = 0;
    bool is_plain = false;  // it is of this kind
};

class DebugFrame {
public:
    explicit DebugFrame(const std::string& path);
    ~DebugFrame();
    DebugFrame(const DebugFrame&) = delete;
    DebugFrame& operator=(const DebugFrame&) = delete;

    [[nodiscard]] bool is_open() const;
    // nullopt: no FDE covers the address.
    [[nodiscard]] std::optional<DebugFrameRow> row_at(std::uint64_t file_vaddr) const;

private:
    struct Handles;
    std::unique_ptr<Handles> handles_;
};

}  // namespace bobbin::test

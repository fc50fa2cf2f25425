// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbolize/demangle.h"
#include "symbolize/name_generated.h"
#include "symbolize/name_object.h"

namespace bobbin::symbolize {

// What the agent and its worker tell each other about one object, as bytes: little-endian numbers,
// texts behind their length. Pure. Bytes are read as if an enemy had written them, because a worker
// that parsed a malicious file may be the enemy's by now.

struct ObjectRequest {
    std::string path;
    std::vector<std::uint64_t> addresses;  // ascending file_vaddrs
    SymbolDetail detail = SymbolDetail::kInlines;
    std::chrono::milliseconds time_limit{};
    std::vector<std::string> debug_directories;
    std::string downloads;  // as DebugFileSources::downloads
};

// A perf map or a jitdump.
struct CodeMapRequest {
    CodeMapKind kind{};
    std::vector<std::uint64_t> addresses;  // ascending
};

struct DemangleRequest {
    DemangleStyle style{};
    std::vector<std::string> system_names;
};

// The longest name that is passed on; what is longer is cut off there.
inline constexpr std::size_t kMaxTextBytes = std::size_t{64} << 10;
// A few hundred thousand addresses with all that is inlined there.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20;
// In the answer a name stands once; in the agent, with each frame.
inline constexpr std::size_t kMaxNamesBytes = std::size_t{256} << 20;

std::vector<std::byte> encode(const ObjectRequest& request);
Result<ObjectRequest> decode_request(std::span<const std::byte> bytes);

std::vector<std::byte> encode(const CodeMapRequest& request);
Result<CodeMapRequest> decode_code_map_request(std::span<const std::byte> bytes);

std::vector<std::byte> encode(const DemangleRequest& request);
Result<DemangleRequest> decode_demangle_request(std::span<const std::byte> bytes);

std::vector<std::byte> encode(const ObjectNames& names);
// Error: it is no answer for so many addresses, or would take more memory than kMaxNamesBytes.
Result<ObjectNames> decode_names(std::span<const std::byte> bytes, std::size_t address_count);

std::vector<std::byte> encode(std::span<const std::string> texts);
Result<std::vector<std::string>> decode_texts(std::span<const std::byte> bytes);

std::vector<std::byte> encode(const std::string& text);
std::string decode_text(std::span<const std::byte> bytes);  // cut off at kMaxTextBytes

}  // namespace bobbin::symbolize

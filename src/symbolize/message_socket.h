// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bobbin::symbolize {

enum class MessageKind : std::uint32_t {
    kReady,      // worker, once: its rights are gone; text: what could not be given up
    kObject,     // agent: ObjectRequest with the file
    kNames,      // worker: ObjectNames, which ends the request
    kFailed,     // worker: the reason as a text, which ends any request, too
    kOpen,       // worker: the path of a file that the object names
    kFile,       // agent: that file, if it was opened, and the directory it lies in
    kCodeMap,    // agent: CodeMapRequest with the file, answered by kNames
    kDemangle,   // agent: DemangleRequest
    kDemangled,  // worker: as many texts
    kDownload,   // agent: a build id, in hex
    kNotThere,   // debuginfod_client.h: no server has it
};

struct Message {
    MessageKind kind{};
    std::vector<std::byte> payload;
    UniqueFd fd;  // may be there
};

// One end of a socket that carries messages, each with a descriptor if need be (unix(7),
// SCM_RIGHTS).
class MessageSocket {
public:
    using Clock = std::chrono::steady_clock;

    explicit MessageSocket(UniqueFd fd) : fd_(std::move(fd)) {}

    // Errors: ETIMEDOUT after the deadline; EPIPE when the other end is gone. Without a deadline
    // they wait in the call itself, which needs no right to poll.
    Result<> send(MessageKind kind, std::span<const std::byte> payload, int fd = -1,
                  Clock::time_point deadline = Clock::time_point::max()) const;
    // Also EMSGSIZE: a message larger than kMaxMessageBytes was announced.
    [[nodiscard]] Result<Message> receive(
        Clock::time_point deadline = Clock::time_point::max()) const;

    [[nodiscard]] bool is_closed_by_peer() const;
    [[nodiscard]] int fd() const { return fd_.get(); }

private:
    UniqueFd fd_;
};

}  // namespace bobbin::symbolize

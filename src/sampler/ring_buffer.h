// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "base/result.h"

struct ring_buffer;

namespace bobbin::sampler {

// One BPF ring buffer and its only reader. One thread.
class RingBuffer {
public:
    // `on_record` gets each record; its bytes are borrowed for the call.
    using OnRecord = std::function<void(std::span<const std::byte>)>;

    static Result<RingBuffer> open(int map_fd, OnRecord on_record);

    // Waits until records are announced or `timeout` passes, then takes all there are: the writer
    // does not wake for each.
    Result<> read(std::chrono::milliseconds timeout);

    // Readable while records are announced: for whoever waits for other things too. Borrowed.
    [[nodiscard]] int poll_fd() const;

    RingBuffer(RingBuffer&&) noexcept;
    RingBuffer& operator=(RingBuffer&&) noexcept;
    ~RingBuffer();

private:
    struct Deleter {
        void operator()(ring_buffer* ring) const;
    };
    RingBuffer(std::unique_ptr<OnRecord> on_record, std::unique_ptr<ring_buffer, Deleter> ring);

    std::unique_ptr<OnRecord> on_record_;  // its address is known to libbpf
    std::unique_ptr<ring_buffer, Deleter> ring_;
};

}  // namespace bobbin::sampler

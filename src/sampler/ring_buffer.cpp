// SPDX-License-Identifier: Apache-2.0
#include "sampler/ring_buffer.h"

#include <bpf/libbpf.h>

#include <cerrno>
#include <utility>

namespace bobbin::sampler {
namespace {

int hand_over(void* context, void* data, std::size_t size) {
    (*static_cast<RingBuffer::OnRecord*>(context))({static_cast<const std::byte*>(data), size});
    return 0;
}

}  // namespace

void RingBuffer::Deleter::operator()(ring_buffer* ring) const { ring_buffer__free(ring); }

RingBuffer::RingBuffer(std::unique_ptr<OnRecord> on_record,
                       std::unique_ptr<ring_buffer, Deleter> ring)
    : on_record_(std::move(on_record)), ring_(std::move(ring)) {}
RingBuffer::RingBuffer(RingBuffer&&) noexcept = default;
RingBuffer& RingBuffer::operator=(RingBuffer&&) noexcept = default;
RingBuffer::~RingBuffer() = default;

Result<RingBuffer> RingBuffer::open(int map_fd, OnRecord on_record) {
    auto owned = std::make_unique<OnRecord>(std::move(on_record));
    std::unique_ptr<ring_buffer, Deleter> ring(
        ring_buffer__new(map_fd, hand_over, owned.get(), nullptr));
    if (!ring) return fail_with(errno, "open a ring buffer");
    return RingBuffer(std::move(owned), std::move(ring));
}

int RingBuffer::poll_fd() const { return ring_buffer__epoll_fd(ring_.get()); }

Result<> RingBuffer::read(std::chrono::milliseconds timeout) {
    const int polled = ring_buffer__poll(ring_.get(), static_cast<int>(timeout.count()));
    if (polled < 0 && polled != -EINTR) return fail_with(polled, "wait for a ring buffer");
    if (const int consumed = ring_buffer__consume(ring_.get()); consumed < 0) {
        return fail_with(consumed, "read a ring buffer");
    }
    return {};
}

}  // namespace bobbin::sampler

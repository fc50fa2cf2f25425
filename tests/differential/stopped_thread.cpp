// SPDX-License-Identifier: Apache-2.0
#include "differential/stopped_thread.h"

#include <algorithm>
#include <cstring>

namespace bobbin::test {
namespace {

constexpr std::uint64_t kRedZoneBytes = 128;  // psABI 3.2.2
constexpr std::uint64_t kCopiedBytes = 32768;

}  // namespace

StoppedThread::StoppedThread(const TracedProcess& process,
                             const std::vector<TracedMapping>& mappings, pid_t thread)
    : process_(process), thread_(thread), registers_(TracedProcess::registers(thread)) {
    const std::uint64_t rsp = registers_[7];
    const TracedMapping* mapping = find_mapping(mappings, rsp);
    if (mapping == nullptr || !mapping->readable) return;
    stack_vaddr_ = std::max(mapping->start_vaddr, (rsp - kRedZoneBytes) & ~std::uint64_t{7});
    stack_.resize(std::min(mapping->end_vaddr - stack_vaddr_, kCopiedBytes));
    if (!process_.read(stack_vaddr_, stack_)) stack_.clear();
}

bool StoppedThread::read(std::uint64_t vaddr, std::span<std::byte> to) const {
    const std::uint64_t offset = vaddr - stack_vaddr_;
    if (offset >= stack_.size() || to.size() > stack_.size() - offset) {
        return process_.read(vaddr, to);
    }
    std::memcpy(to.data(), stack_.data() + offset, to.size());
    return true;
}

}  // namespace bobbin::test

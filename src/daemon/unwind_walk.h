// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <variant>
#include <vector>

#include "base/handoff_queue.h"
#include "base/result.h"
#include "executable/build_executable.h"
#include "executable/catalog.h"
#include "executable/open_file.h"
#include "sampler/bpf_kernel_tables.h"
#include "sampler/bpf_program.h"
#include "sampler/ring_buffer.h"
#include "unwind_feed/unwind_feed.h"
#include "unwind_table/shared_rules.h"

namespace bobbin::daemon {

// The unwind walk: announcement -> open file -> ELF, CFI, table -> the kernel's maps. A thread a
// step, because opening must not wait (a process may live for 1 ms), building takes up to 100 ms a
// file, and publishing now and then waits 16 ms for the kernel.
//   opener     reads announcements, holds the files by fd
//   builders   read and pack, several files at once
//   publisher  writes the kernel's maps and the catalog
// Runs from construction to destruction.
class UnwindWalk {
public:
    // Announces what runs already and returns when all of that is published, so that the first
    // sample finds its tables, or when `patience` has passed: the rest then follows while sampling
    // goes on.
    static Result<std::unique_ptr<UnwindWalk>> start(sampler::BpfProgram& program,
                                                     executable::Catalog& catalog,
                                                     std::chrono::milliseconds patience);

    // Files that were gone before they could be opened.
    [[nodiscard]] std::uint64_t lost_file_count() const { return lost_file_count_; }

    UnwindWalk(const UnwindWalk&) = delete;
    UnwindWalk& operator=(const UnwindWalk&) = delete;
    ~UnwindWalk() = default;

private:
    using Publication = std::variant<executable::BuiltExecutable, abi::announcement>;

    UnwindWalk(const sampler::BpfProgram& program, executable::Catalog& catalog);
    void open_one(const abi::announcement& announcement);
    void run_opener(const std::stop_token& stop);
    void run_builder(const std::stop_token& stop);
    void run_publisher(const std::stop_token& stop);
    Result<> build_vdso();
    Result<> publish_running(sampler::BpfProgram& program, std::chrono::milliseconds patience);
    void finish_one();

    unwind_table::SharedRules shared_rules_;
    sampler::BpfKernelTables kernel_;
    unwind_feed::UnwindFeed feed_;
    std::optional<sampler::RingBuffer> announcements_;
    HandoffQueue<executable::OpenedFile> opened_;
    HandoffQueue<Publication> built_;

    std::mutex pending_mutex_;
    std::condition_variable nothing_pending_;
    std::uint64_t pending_count_ = 0;  // announced and not yet published
    std::atomic<std::uint64_t> lost_file_count_ = 0;

    // Last, so that they are joined before anything above goes.
    std::jthread publisher_;
    std::vector<std::jthread> builders_;
    std::jthread opener_;
};

}  // namespace bobbin::daemon

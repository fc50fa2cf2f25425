// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "base/result.h"
#include "daemon/files_in_flight.h"
#include "sampler/ring_buffer.h"

namespace bobbin::daemon {

// First step of the unwind walk: reads announcements and finds their files while there is a process
// or a held event that leads to them. Does nothing else, because a process may live for 1 ms.
class FileOpener {
public:
    static Result<std::shared_ptr<FileOpener>> open(int announcements_fd,
                                                    std::shared_ptr<FilesInFlight> files);

    // Until `stop` is requested.
    void run(const std::stop_token& stop);

private:
    using Opened = tl::expected<executable::OpenedFile, executable::LostFile>;

    explicit FileOpener(std::shared_ptr<FilesInFlight> files) : files_(std::move(files)) {}
    void handle(const abi::announcement& announcement);
    Opened find(const abi::announcement& announcement);
    std::optional<executable::OpenedFile> claim(const abi::announcement& announcement);
    void wait() const;

    std::shared_ptr<FilesInFlight> files_;
    std::optional<sampler::RingBuffer> announcements_;
};

}  // namespace bobbin::daemon

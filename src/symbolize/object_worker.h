// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "symbolize/message_socket.h"
#include "symbolize/name_object.h"
#include "symbolize/object_messages.h"

namespace bobbin::symbolize {

struct WorkerOptions {
    // What becomes the worker: run with these arguments, by default the agent's own program, it
    // hands descriptor kWorkerSocketFd to serve_objects().
    std::string program = "/proc/self/exe";
    // What is decompressed has a limit of 256 MiB of its own (dwarf::MemoryLimit); as much again is
    // for symbols, the unit in hand and the answers.
    std::uint64_t memory_bytes = 512ULL << 20;
};

inline constexpr int kWorkerSocketFd = 3;
inline constexpr const char* kWorkerArgument = "symbolize-worker";

// The process that parses the files of others in the agent's place. It is started when it is first
// asked, and again after it was lost. Any thread, one at a time; the worker ends with the thread
// that started it, then the next one to ask starts another.
class ObjectWorker {
public:
    explicit ObjectWorker(WorkerOptions options = {}) : options_(std::move(options)) {}
    ~ObjectWorker() { end(); }
    ObjectWorker(const ObjectWorker&) = delete;
    ObjectWorker& operator=(const ObjectWorker&) = delete;

    struct Answer {
        std::optional<ObjectNames> names;
        bool worker_was_lost = false;  // it crashed, or did not answer in time and was killed
        std::string reason;            // why there are no names
    };
    // Whatever the file does to the worker: within `patience`, but for the time that opening its
    // debug files takes.
    Answer name(int fd, const ObjectRequest& request, std::chrono::milliseconds patience);

    // Ends the process, if there is one; gives its status, of wait(2).
    int end();

    // What the worker could not give up; empty: it has no rights, as it should. Of the last one.
    [[nodiscard]] const std::string& rights_left() const { return rights_left_; }
    // Of those that ended.
    [[nodiscard]] std::chrono::microseconds cpu_time() const { return cpu_time_; }
    [[nodiscard]] pid_t pid() const { return pid_; }  // -1: there is none

private:
    Result<> start();
    // Gives the worker what it asks for until the request has ended.
    Result<Message> converse(int fd, const ObjectRequest& request,
                             MessageSocket::Clock::time_point deadline);
    Result<> serve(const Message& message, MessageSocket::Clock::time_point deadline);
    Answer give_up(int error, std::chrono::milliseconds patience);

    WorkerOptions options_;
    std::optional<MessageSocket> socket_;
    pid_t pid_ = -1;
    std::string rights_left_;
    std::chrono::microseconds cpu_time_{};
};

}  // namespace bobbin::symbolize

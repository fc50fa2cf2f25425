// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/result.h"
#include "symbolize/find_debug_file.h"
#include "symbolize/message_socket.h"
#include "symbolize/name_object.h"
#include "symbolize/object_messages.h"
#include "symbolize/spawned_process.h"

namespace bobbin::symbolize {

struct WorkerOptions {
    // What becomes the worker: run with these arguments, by default the agent's own program, it
    // hands descriptor kAgentSocketFd to serve_objects().
    std::string program = "/proc/self/exe";
    // What is decompressed has a limit of 256 MiB of its own (dwarf::MemoryLimit); as much again is
    // for symbols, the unit in hand and the answers.
    std::uint64_t memory_bytes = 512ULL << 20;
};

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

    struct Loss {
        bool worker_was_lost = false;  // it crashed, or did not answer in time and was killed
        std::string reason;
    };
    struct Answer {
        std::optional<ObjectNames> names;
        Loss loss;  // why there are none
    };
    // Whatever the file does to the worker: within `patience`, in which its debug files are opened,
    // too.
    Answer name(int fd, const ObjectRequest& request, std::chrono::milliseconds patience);
    // One frame an address, or none.
    Answer name_generated(int fd, const CodeMapRequest& request,
                          std::chrono::milliseconds patience);
    // As many names as were asked for.
    tl::expected<std::vector<std::string>, Loss> demangle(const DemangleRequest& request,
                                                          std::chrono::milliseconds patience);

    // How files are opened that an object names; without it by open_object_file().
    void open_files_by(FileOpener open) { open_ = std::move(open); }

    // Ends the process, if there is one; gives its status, of wait(2).
    int end();

    // What the worker could not give up; empty: it has no rights, as it should. Of the last one.
    [[nodiscard]] const std::string& rights_left() const { return rights_left_; }
    // Of those that ended.
    [[nodiscard]] std::chrono::microseconds cpu_time() const { return cpu_time_; }
    [[nodiscard]] pid_t pid() const { return process_ ? process_->pid : -1; }  // -1: there is none

private:
    struct Question {
        MessageKind kind{};
        MessageKind answer{};
        std::vector<std::byte> payload;
        int fd = -1;
    };
    Result<> start();
    tl::expected<Message, Loss> ask(const Question& question, std::chrono::milliseconds patience);
    // Gives the worker what it asks for until the question is answered.
    Result<Message> converse(const Question& question, MessageSocket::Clock::time_point deadline);
    Result<> serve(const Message& message, MessageSocket::Clock::time_point deadline);
    Loss give_up(int error, std::chrono::milliseconds patience);
    Answer names_of(const tl::expected<Message, Loss>& message, std::size_t address_count,
                    std::chrono::milliseconds patience);

    WorkerOptions options_;
    FileOpener open_ = open_object_file;
    std::optional<SpawnedProcess> process_;
    std::string rights_left_;
    std::chrono::microseconds cpu_time_{};
};

}  // namespace bobbin::symbolize

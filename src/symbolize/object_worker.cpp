// SPDX-License-Identifier: Apache-2.0
#include "symbolize/object_worker.h"

#include <string.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>

#include "symbolize/serve_objects.h"

namespace bobbin::symbolize {
namespace {

using Clock = MessageSocket::Clock;

std::string describe_end(int status, std::uint64_t memory_bytes) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == kWorkerOutOfMemory) {
        return fmt::format("reading it takes more than {} MiB", memory_bytes >> 20);
    }
    if (!WIFSIGNALED(status)) return "its reader ended";
    const char* const signal = ::sigabbrev_np(WTERMSIG(status));
    return fmt::format("its reader died of SIG{}", signal != nullptr ? signal : "?");
}

}  // namespace

Result<> ObjectWorker::start() {
    // The environment may hold secrets of root's; only how to find libraries is needed.
    BOBBIN_TRY(SpawnedProcess process,
               spawn_process({.path = options_.program,
                              .arguments = {kWorkerArgument, std::to_string(options_.memory_bytes)},
                              .environment = variables_of_this_process({"LD_LIBRARY_PATH"})}));
    process_.emplace(std::move(process));
    return {};
}

int ObjectWorker::end() {
    if (!process_) return 0;
    const EndedProcess ended = end_process(process_->pid);
    cpu_time_ += ended.cpu_time;
    process_.reset();
    return ended.status;
}

Result<> ObjectWorker::serve(const Message& message, Clock::time_point deadline) {
    if (message.kind == MessageKind::kReady) {
        rights_left_ = decode_text(message.payload);
        return {};
    }
    if (message.kind == MessageKind::kOpen) {
        const FoundFile found = open_(decode_text(message.payload));
        return process_->socket.send(MessageKind::kFile, encode(found.directory), found.fd.get(),
                                     deadline);
    }
    return fail_with(EPROTO, "a message of kind {}", static_cast<std::uint32_t>(message.kind));
}

Result<Message> ObjectWorker::converse(const Question& question, Clock::time_point deadline) {
    BOBBIN_CHECK(process_->socket.send(question.kind, question.payload, question.fd, deadline));
    while (true) {
        BOBBIN_TRY(Message message, process_->socket.receive(deadline));
        if (message.kind == question.answer || message.kind == MessageKind::kFailed) {
            return message;
        }
        BOBBIN_CHECK(serve(message, deadline));
    }
}

ObjectWorker::Loss ObjectWorker::give_up(int error, std::chrono::milliseconds patience) {
    const int status = end();
    if (error == ETIMEDOUT) {
        return {true, fmt::format("reading it takes longer than {:.3g} s",
                                  static_cast<double>(patience.count()) / 1000)};
    }
    if (error == EPIPE) return {true, describe_end(status, options_.memory_bytes)};
    return {true, "its reader gave no sensible answer"};
}

tl::expected<Message, ObjectWorker::Loss> ObjectWorker::ask(const Question& question,
                                                            std::chrono::milliseconds patience) {
    const Clock::time_point deadline = Clock::now() + patience;
    if (process_ && process_->socket.is_closed_by_peer()) end();  // while it had nothing to do
    if (!process_) {
        if (const auto started = start(); !started) {
            return tl::unexpected(Loss{false, started.error().message()});
        }
    }
    auto message = converse(question, deadline);
    if (!message) return tl::unexpected(give_up(message.error().code().value(), patience));
    if (message->kind == MessageKind::kFailed) {
        return tl::unexpected(Loss{false, decode_text(message->payload)});
    }
    return std::move(*message);
}

ObjectWorker::Answer ObjectWorker::name(int fd, const ObjectRequest& request,
                                        std::chrono::milliseconds patience) {
    return names_of(ask({MessageKind::kObject, MessageKind::kNames, encode(request), fd}, patience),
                    request.addresses.size(), patience);
}

ObjectWorker::Answer ObjectWorker::name_generated(int fd, const CodeMapRequest& request,
                                                  std::chrono::milliseconds patience) {
    return names_of(
        ask({MessageKind::kCodeMap, MessageKind::kNames, encode(request), fd}, patience),
        request.addresses.size(), patience);
}

ObjectWorker::Answer ObjectWorker::names_of(const tl::expected<Message, Loss>& message,
                                            std::size_t address_count,
                                            std::chrono::milliseconds patience) {
    if (!message) return {.names = {}, .loss = message.error()};
    auto names = decode_names(message->payload, address_count);
    if (!names) return {.names = {}, .loss = give_up(EPROTO, patience)};
    return {.names = std::move(*names), .loss = {}};
}

tl::expected<std::vector<std::string>, ObjectWorker::Loss> ObjectWorker::demangle(
    const DemangleRequest& request, std::chrono::milliseconds patience) {
    const auto message =
        ask({MessageKind::kDemangle, MessageKind::kDemangled, encode(request), -1}, patience);
    if (!message) return tl::unexpected(message.error());
    auto names = decode_texts(message->payload);
    if (!names || names->size() != request.system_names.size()) {
        return tl::unexpected(give_up(EPROTO, patience));
    }
    return std::move(*names);
}

}  // namespace bobbin::symbolize

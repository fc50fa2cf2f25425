// SPDX-License-Identifier: Apache-2.0
#include "symbolize/serve_objects.h"

#include <unistd.h>

#include <new>
#include <utility>

#include "symbolize/give_up_rights.h"
#include "symbolize/message_socket.h"
#include "symbolize/name_object.h"
#include "symbolize/object_messages.h"

namespace bobbin::symbolize {
namespace {

FoundFile ask_for_file(const MessageSocket& agent, const std::string& path) {
    if (!agent.send(MessageKind::kOpen, encode(path))) return {};
    auto answer = agent.receive();
    if (!answer || answer->kind != MessageKind::kFile) return {};
    return {.fd = std::move(answer->fd), .directory = decode_text(answer->payload)};
}

Result<> name_and_answer(const MessageSocket& agent, const Message& message) {
    BOBBIN_TRY(const ObjectRequest request, decode_request(message.payload));
    const DwarfOptions options{
        .detail = request.detail,
        .time_limit = request.time_limit,
        .debug_directories = request.debug_directories,
        .open_file = [&agent](const std::string& path) { return ask_for_file(agent, path); }};
    const auto names = name_object(message.fd.get(), request.path, request.addresses, options);
    if (!names) return agent.send(MessageKind::kFailed, encode(names.error().message()));
    return agent.send(MessageKind::kNames, encode(*names));
}

}  // namespace

int serve_objects(int socket_fd, std::uint64_t memory_bytes) {
    std::set_new_handler([] { ::_exit(kWorkerOutOfMemory); });
    const MessageSocket agent{UniqueFd(socket_fd)};
    const Result<> without_rights = give_up_rights(memory_bytes);
    const std::string remark = without_rights ? std::string() : without_rights.error().message();
    if (!agent.send(MessageKind::kReady, encode(remark))) return kWorkerFinished;
    while (true) {
        const auto message = agent.receive();
        if (!message || message->kind != MessageKind::kObject) return kWorkerFinished;
        if (!name_and_answer(agent, *message)) return kWorkerFinished;
    }
}

}  // namespace bobbin::symbolize

// SPDX-License-Identifier: Apache-2.0
#include "symbolize/serve_objects.h"

#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

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
        .downloads = request.downloads,
        .open_file = [&agent](const std::string& path) { return ask_for_file(agent, path); }};
    const auto names = name_object(message.fd.get(), request.path, request.addresses, options);
    if (!names) return agent.send(MessageKind::kFailed, encode(names.error().message()));
    return agent.send(MessageKind::kNames, encode(*names));
}

Result<> read_code_map_and_answer(const MessageSocket& agent, const Message& message) {
    BOBBIN_TRY(const CodeMapRequest request, decode_code_map_request(message.payload));
    std::vector<NamedFrame> frames =
        read_code_map(message.fd.get(), request.kind, request.addresses);
    ObjectNames names;
    names.names.resize(request.addresses.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (!frames[i].system_name.empty()) names.names[i].push_back(std::move(frames[i]));
    }
    return agent.send(MessageKind::kNames, encode(names));
}

Result<> demangle_and_answer(const MessageSocket& agent, const Message& message) {
    BOBBIN_TRY(DemangleRequest request, decode_demangle_request(message.payload));
    for (std::string& name : request.system_names) name = demangle(name, request.style);
    return agent.send(MessageKind::kDemangled,
                      encode(std::span<const std::string>(request.system_names)));
}

Result<> answer(const MessageSocket& agent, const Message& message) {
    switch (message.kind) {
        case MessageKind::kObject:
            return name_and_answer(agent, message);
        case MessageKind::kCodeMap:
            return read_code_map_and_answer(agent, message);
        case MessageKind::kDemangle:
            return demangle_and_answer(agent, message);
        default:
            return fail("a message that is no question");
    }
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
        if (!message || !answer(agent, *message)) return kWorkerFinished;
        // What one file took would be there beside what the next one takes.
        ::malloc_trim(0);
    }
}

}  // namespace bobbin::symbolize

// SPDX-License-Identifier: Apache-2.0
// A worker for object_worker_test.cpp: the real one, or one that a malicious file has taken over.
// Which of them is said by the only argument that ObjectWorker lets one choose.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "symbolize/message_socket.h"
#include "symbolize/object_messages.h"
#include "symbolize/object_worker.h"
#include "symbolize/serve_objects.h"
#include "unit/symbolize/worker_kinds.h"

namespace bobbin::symbolize {
namespace {

void answer(const MessageSocket& agent, const Message& message, WorkerKind kind) {
    if (message.kind == MessageKind::kDemangle && kind == kAnswersNonsense) {
        const std::vector<std::string> two = {"one", "two"};
        (void)agent.send(MessageKind::kDemangled, encode(std::span(two)));
        return;
    }
    const auto request = decode_request(message.payload);
    switch (kind) {
        case kCrashes:
            ::abort();
        case kCrashesOnDebugInformation: {
            if (request->detail != SymbolDetail::kNames) ::abort();
            const auto names = name_object(message.fd.get(), request->path, request->addresses,
                                           {.detail = SymbolDetail::kNames});
            (void)agent.send(MessageKind::kNames, encode(*names));
            return;
        }
        case kHangs:
            while (true) ::pause();
        case kAnswersNonsense:
            (void)agent.send(MessageKind::kNames, std::vector<std::byte>(100, std::byte{0xff}));
            return;
        case kPromisesTooMuch: {
            const std::uint32_t header[] = {static_cast<std::uint32_t>(MessageKind::kNames),
                                            0xffffffff};
            (void)::write(agent.fd(), header, sizeof(header));
            return;
        }
        case kSendsAnUnknownMessage:
            (void)agent.send(static_cast<MessageKind>(77), {});
            return;
        case kAsksForWhatItNamed: {
            (void)agent.send(MessageKind::kOpen, encode(request->path));
            const auto file = agent.receive();
            const bool has_file = file && file->fd.is_open();
            (void)agent.send(MessageKind::kFailed,
                             encode(std::string(has_file ? "has it" : "has it not")));
            return;
        }
    }
}

int serve(WorkerKind kind) {
    const MessageSocket agent{UniqueFd(kAgentSocketFd)};
    while (const auto message = agent.receive()) answer(agent, *message, kind);
    return 0;
}

}  // namespace
}  // namespace bobbin::symbolize

int main(int /*argc*/, char** argv) {
    using namespace bobbin::symbolize;
    const auto memory_bytes = std::strtoull(argv[2], nullptr, 10);
    if (memory_bytes > kLastWorkerKind) ::_exit(serve_objects(kAgentSocketFd, memory_bytes));
    return serve(static_cast<WorkerKind>(memory_bytes));
}

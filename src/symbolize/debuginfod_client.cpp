// SPDX-License-Identifier: Apache-2.0
#include "symbolize/debuginfod_client.h"

#include <dlfcn.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "symbolize/find_debug_file.h"
#include "symbolize/message_socket.h"
#include "symbolize/object_messages.h"

namespace bobbin::symbolize {
namespace {

// elfutils' <debuginfod.h>, whose package is not needed to build.
constexpr const char* kLibrary = "libdebuginfod.so.1";
struct LibraryClient;
using Begin = LibraryClient* (*)();
using FindDebugInfo = int (*)(LibraryClient*, const unsigned char* build_id, int build_id_bytes,
                              char** path);

struct Library {
    LibraryClient* client = nullptr;
    FindDebugInfo find = nullptr;
};

Result<Library> load_library() {
    void* const handle = ::dlopen(kLibrary, RTLD_NOW);
    if (handle == nullptr) {
        return fail("{} is not installed (Debian's package is libdebuginfod1)", kLibrary);
    }
    const auto begin = reinterpret_cast<Begin>(::dlsym(handle, "debuginfod_begin"));
    const auto find = reinterpret_cast<FindDebugInfo>(::dlsym(handle, "debuginfod_find_debuginfo"));
    if (begin == nullptr || find == nullptr) return fail("{} is too old", kLibrary);
    LibraryClient* const client = begin();
    if (client == nullptr) return fail("{} cannot be used", kLibrary);
    return Library{.client = client, .find = find};
}

// Under sudo the cache is the user's, and nothing of the network's has root's rights.
Result<> become(const DownloadUser& user) {
    const passwd* const entry = ::getpwuid(user.uid);
    if (entry == nullptr) return fail("user {} is not known", user.uid);
    ::setenv("HOME", entry->pw_dir, 1);
    if (::setgroups(0, nullptr) != 0 || ::setresgid(user.gid, user.gid, user.gid) != 0 ||
        ::setresuid(user.uid, user.uid, user.uid) != 0) {
        return fail_with(errno, "become user {}", user.uid);
    }
    return {};
}

Result<Library> prepare(const std::optional<DownloadUser>& user) {
    const rlimit none{};
    ::setrlimit(RLIMIT_CORE, &none);
    if (user) BOBBIN_CHECK(become(*user));
    // Behind the change of the user, which resets it (prctl(2)).
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return load_library();
}

// Not open: no server has it.
Result<UniqueFd> download(const Library& library, const std::string& build_id) {
    char* found = nullptr;
    // A length of 0: in hex.
    const int fd = library.find(
        library.client, reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, &found);
    const std::unique_ptr<char, decltype(&std::free)> path(found, &std::free);
    if (fd == -ENOENT) return UniqueFd();
    if (fd < 0) return fail("{}", std::generic_category().message(-fd));
    UniqueFd file(fd);
    if (elf::to_hex(read_build_id_section(fd)) == build_id) return file;
    if (path) ::unlink(path.get());
    return fail("what was sent is not what was asked for");
}

Result<> answer(const MessageSocket& agent, const Library& library, const std::string& build_id) {
    const auto file = download(library, build_id);
    if (!file) return agent.send(MessageKind::kFailed, encode(file.error().message()));
    if (!file->is_open()) return agent.send(MessageKind::kNotThere, {});
    return agent.send(MessageKind::kFile, {}, file->get());
}

}  // namespace

int serve_downloads(int socket_fd, std::optional<DownloadUser> user) {
    const MessageSocket agent{UniqueFd(socket_fd)};
    const auto library = prepare(user);
    while (true) {
        const auto message = agent.receive();
        if (!message || message->kind != MessageKind::kDownload) return EXIT_SUCCESS;
        const Result<> sent =
            library ? answer(agent, *library, decode_text(message->payload))
                    : agent.send(MessageKind::kFailed, encode(library.error().message()));
        if (!sent) return EXIT_SUCCESS;
    }
}

}  // namespace bobbin::symbolize

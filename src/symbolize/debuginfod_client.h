// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>

namespace bobbin::symbolize {

// Whose rights and whose cache directory downloads use.
struct DownloadUser {
    uid_t uid = 0;
    gid_t gid = 0;
};

// The process that talks to debuginfod servers: it takes build ids through `socket_fd` and answers
// with files, until that is closed. Libraries for HTTP and TLS stay out of the agent that way, and
// a server that does not answer can be left by killing it. Servers, limits and the cache are those
// of libdebuginfod's environment (debuginfod_find_debuginfo(3)); the library is opened at run time,
// so that bobbin runs without it. A file whose build id is not the one asked for, which the library
// does not look at, is removed from the cache. Gives the exit status, for _exit.
int serve_downloads(int socket_fd, std::optional<DownloadUser> user);

}  // namespace bobbin::symbolize

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bobbin::serve {

// Where a server of this machine listens: a socket file, or an address as numbers with a port.
struct ListenPlace {
    std::string socket_path;  // empty: the address
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  // 0: one that is free
};

// "unix:/run/x.sock", "127.0.0.1:7273", "[::1]:0".
Result<ListenPlace> parse_listen_place(std::string_view text);

// A socket that listens there, until it is destroyed. A socket file has mode 0660 before anybody
// can connect, and belongs to the group `bobbin` if root made it and there is one; that a dead
// process left one is no error, that a living one listens is (EADDRINUSE).
class ListenSocket {
public:
    static Result<ListenSocket> open(const ListenPlace& place);

    ListenSocket(ListenSocket&& other) noexcept;
    ListenSocket& operator=(ListenSocket&&) = delete;
    ~ListenSocket();

    [[nodiscard]] const ListenPlace& place() const { return place_; }  // with the port it has
    // "127.0.0.1:7273", "[::1]:7273", as in a URL; of a socket file empty.
    [[nodiscard]] std::string host() const;
    // For a library that closes it itself.
    [[nodiscard]] int release() { return fd_.release(); }

private:
    ListenSocket() = default;
    Result<> open_file();
    Result<> open_address();

    ListenPlace place_;
    UniqueFd fd_;
    dev_t file_device_ = 0;
    ino_t file_inode_ = 0;  // 0: no file to be removed
};

}  // namespace bobbin::serve

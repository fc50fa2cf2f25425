// SPDX-License-Identifier: Apache-2.0
#include "serve/listen_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <grp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

namespace bobbin::serve {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr int kBacklog = 64;
constexpr mode_t kSocketMode = 0660;
constexpr const char* kGroup = "bobbin";

struct Address {
    sockaddr_storage storage{};
    socklen_t size = 0;
};

sockaddr* generic(Address& address) { return reinterpret_cast<sockaddr*>(&address.storage); }

Result<Address> numeric_address(const ListenPlace& place) {
    Address address;
    auto* const v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
    auto* const v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    if (::inet_pton(AF_INET, place.address.c_str(), &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(place.port);
        address.size = sizeof(*v4);
        return address;
    }
    if (::inet_pton(AF_INET6, place.address.c_str(), &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(place.port);
        address.size = sizeof(*v6);
        return address;
    }
    return fail("{} is not an address like 127.0.0.1 or ::1", place.address);
}

Result<Address> file_address(const std::string& path) {
    Address address;
    auto* const file = reinterpret_cast<sockaddr_un*>(&address.storage);
    if (path.size() >= sizeof(file->sun_path)) return fail_with(ENAMETOOLONG, "socket {}", path);
    file->sun_family = AF_UNIX;
    path.copy(file->sun_path, path.size());
    address.size = sizeof(*file);
    return address;
}

// Whether it is a socket where nobody listens any more. connect() says of other files what it says
// of those.
bool is_left_over(const std::string& path, Address& address) {
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
    const UniqueFd trial(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return trial.is_open() && ::connect(trial.get(), generic(address), address.size) != 0 &&
           errno == ECONNREFUSED;
}

// Started by hand as root: what systemd's RuntimeDirectory= and Group= do otherwise.
void make_directory_of(const std::string& path) {
    ::mkdir(path.substr(0, path.rfind('/')).c_str(), 0755);
}
void give_to_group(const std::string& path) {
    if (::geteuid() != 0) return;
    std::array<char, 16384> names{};
    group entry{};
    group* found = nullptr;
    if (::getgrnam_r(kGroup, &entry, names.data(), names.size(), &found) != 0 || found == nullptr) {
        return;
    }
    // Without it the group may not connect, root still may.
    if (::lchown(path.c_str(), static_cast<uid_t>(-1), found->gr_gid) != 0) return;
}

}  // namespace

Result<ListenPlace> parse_listen_place(std::string_view text) {
    ListenPlace place;
    if (text.starts_with(kUnixPrefix)) {
        place.socket_path = text.substr(kUnixPrefix.size());
        if (!place.socket_path.starts_with('/')) return fail("{}: no path of a socket", text);
        return place;
    }
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return fail("{}: no port", text);
    std::string_view address = text.substr(0, colon);
    if (address.starts_with('[') && address.ends_with(']')) {
        address = address.substr(1, address.size() - 2);
    }
    place.address = address;
    const char* const text_end = text.data() + text.size();
    const auto [end, problem] = std::from_chars(text.data() + colon + 1, text_end, place.port);
    if (problem != std::errc{} || end != text_end) return fail("{}: no port", text);
    return place;
}

Result<ListenSocket> ListenSocket::open(const ListenPlace& place) {
    ListenSocket socket;
    socket.place_ = place;
    if (auto opened = place.socket_path.empty() ? socket.open_address() : socket.open_file();
        !opened) {
        return fail(std::move(opened).error());
    }
    if (::listen(socket.fd_.get(), kBacklog) != 0) return fail_with(errno, "listen");
    return socket;
}

Result<> ListenSocket::open_file() {
    const std::string& path = place_.socket_path;
    BOBBIN_TRY(Address address, file_address(path));
    fd_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd_.is_open()) return fail_with(errno, "make a socket");
    make_directory_of(path);
    int bound = ::bind(fd_.get(), generic(address), address.size);
    if (bound != 0 && errno == EADDRINUSE) {
        if (!is_left_over(path, address)) return fail_with(EADDRINUSE, "listen on {}", path);
        ::unlink(path.c_str());
        bound = ::bind(fd_.get(), generic(address), address.size);
    }
    if (bound != 0) return fail_with(errno, "listen on {}", path);
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) return fail_with(errno, "look at {}", path);
    file_device_ = status.st_dev;
    file_inode_ = status.st_ino;
    give_to_group(path);
    // Nobody can connect before listen().
    if (::chmod(path.c_str(), kSocketMode) != 0) return fail_with(errno, "set mode of {}", path);
    return {};
}

Result<> ListenSocket::open_address() {
    BOBBIN_TRY(Address address, numeric_address(place_));
    fd_ = UniqueFd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd_.is_open()) return fail_with(errno, "make a socket");
    // A port whose last connections are still in TIME_WAIT.
    const int yes = 1;
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (::bind(fd_.get(), generic(address), address.size) != 0 ||
        ::getsockname(fd_.get(), generic(address), &address.size) != 0) {
        return fail_with(errno, "listen on {} port {}", place_.address, place_.port);
    }
    // The port is at the same place in both.
    place_.port = ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
    return {};
}

ListenSocket::ListenSocket(ListenSocket&& other) noexcept
    : place_(std::move(other.place_)),
      fd_(std::move(other.fd_)),
      file_device_(other.file_device_),
      file_inode_(std::exchange(other.file_inode_, 0)) {}

ListenSocket::~ListenSocket() {
    struct stat status{};
    const bool is_there = file_inode_ != 0 && ::lstat(place_.socket_path.c_str(), &status) == 0;
    if (is_there && status.st_ino == file_inode_ && status.st_dev == file_device_) {
        ::unlink(place_.socket_path.c_str());
    }
}

std::string ListenSocket::host() const {
    if (!place_.socket_path.empty()) return {};
    const bool is_ipv6 = place_.address.find(':') != std::string::npos;
    return is_ipv6 ? fmt::format("[{}]:{}", place_.address, place_.port)
                   : fmt::format("{}:{}", place_.address, place_.port);
}

}  // namespace bobbin::serve

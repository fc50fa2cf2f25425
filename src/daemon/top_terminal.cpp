// SPDX-License-Identifier: Apache-2.0
#include "daemon/top_terminal.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace bobbin::daemon {
namespace {

// xterm's second screen (1049), cursor off (25): what every terminal of today knows.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J\x1b[H";
constexpr std::string_view kLeave = "\x1b[?2026l\x1b[0m\x1b[?25h\x1b[?1049l";

// How long a terminal that takes nothing keeps the end of the program waiting.
constexpr int kPatienceMilliseconds = 500;

constexpr std::array kCrashes{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};

// What the handler of a crash needs, which gets no argument. -1: nothing is to be given back.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<int> terminal_of_crash = -1;
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
termios modes_of_crash;

// Only what signal-safety(7) allows. The signal comes again, now with its default.
void give_back_and_crash(int signal) {
    const int fd = terminal_of_crash.exchange(-1);
    if (fd >= 0) {
        (void)!::write(fd, kLeave.data(), kLeave.size());
        ::tcsetattr(fd, TCSANOW, &modes_of_crash);
    }
    ::raise(signal);
}

void handle_crashes(int fd, const termios& modes) {
    modes_of_crash = modes;
    terminal_of_crash = fd;
    struct sigaction action{};
    action.sa_handler = give_back_and_crash;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    for (const int signal : kCrashes) ::sigaction(signal, &action, nullptr);
}

void stop_handling_crashes() {
    terminal_of_crash = -1;
    struct sigaction action{};
    action.sa_handler = SIG_DFL;
    for (const int signal : kCrashes) ::sigaction(signal, &action, nullptr);
}

bool is_utf8() {
    const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
    if (locale == nullptr) return false;
    const bool utf8 = std::string_view(::nl_langinfo_l(CODESET, locale)) == "UTF-8";
    ::freelocale(locale);
    return utf8;
}

void write_patiently(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
            continue;
        }
        pollfd takes{.fd = fd, .events = POLLOUT, .revents = 0};
        if (errno != EAGAIN || ::poll(&takes, 1, kPatienceMilliseconds) != 1) return;
    }
}

}  // namespace

Result<std::unique_ptr<TopTerminal>> TopTerminal::open() {
    if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
        return fail("standard input and standard output have to be a terminal");
    }
    UniqueFd fd(::open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!fd.is_open()) return fail_with(errno, "open /dev/tty");
    return std::unique_ptr<TopTerminal>(new TopTerminal(std::move(fd)));
}

void TopTerminal::enter() {
    if (!is_entered_ && ::tcgetattr(fd_.get(), &before_) != 0) return;
    is_entered_ = true;
    handle_crashes(fd_.get(), before_);
    termios modes = before_;
    modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
    modes.c_iflag &= ~static_cast<tcflag_t>(IXON);
    modes.c_cc[VMIN] = 1;
    modes.c_cc[VTIME] = 0;
    ::tcsetattr(fd_.get(), TCSANOW, &modes);
    unwritten_.clear();
    shown_.reset();
    write_patiently(fd_.get(), kEnter);
}

void TopTerminal::leave() {
    if (!std::exchange(is_entered_, false)) return;
    write_patiently(fd_.get(), kLeave);
    ::tcsetattr(fd_.get(), TCSANOW, &before_);
    stop_handling_crashes();
    unwritten_.clear();
    shown_.reset();
}

screen::Size TopTerminal::size() const {
    winsize size{};
    const bool is_known = ::ioctl(fd_.get(), TIOCGWINSZ, &size) == 0;
    // A terminal may say 65535: a page has a byte for each place at least.
    constexpr unsigned short kMost = 1000;
    if (!is_known || size.ws_col == 0 || size.ws_row == 0) return {};
    return {.columns = std::min(size.ws_col, kMost), .rows = std::min(size.ws_row, kMost)};
}

screen::Look TopTerminal::look() {
    const char* const no_color = std::getenv("NO_COLOR");
    const char* const term = std::getenv("TERM");
    const bool is_dumb = term != nullptr && std::string_view(term) == "dumb";
    return {.colours = !is_dumb && (no_color == nullptr || *no_color == '\0'), .utf8 = is_utf8()};
}

std::optional<std::string> TopTerminal::read() {
    std::array<char, 512> bytes{};
    const ssize_t count = ::read(fd_.get(), bytes.data(), bytes.size());
    if (count > 0) return std::string(bytes.data(), static_cast<std::size_t>(count));
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return std::string();
    return std::nullopt;
}

void TopTerminal::write_on() {
    const ssize_t written = ::write(fd_.get(), unwritten_.data(), unwritten_.size());
    if (written > 0) unwritten_.erase(0, static_cast<std::size_t>(written));
}

bool TopTerminal::show(screen::Page page) {
    if (has_unwritten()) return false;
    unwritten_ = screen::bytes_to_show(page, shown_ ? &*shown_ : nullptr);
    shown_ = std::move(page);
    if (has_unwritten()) write_on();
    return true;
}

}  // namespace bobbin::daemon

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "screen/frame.h"

namespace bobbin::daemon {

// The terminal of `bobbin top`: its second screen, keys one by one and not echoed, no cursor. It is
// given back by the destructor, and by a handler when this process crashes. Ctrl-C and Ctrl-Z stay
// signals. One at a time; one thread.
class TopTerminal {
public:
    // Error: standard input and output are no terminal.
    static Result<std::unique_ptr<TopTerminal>> open();
    ~TopTerminal() { leave(); }
    TopTerminal(const TopTerminal&) = delete;
    TopTerminal& operator=(const TopTerminal&) = delete;

    // Also when others have changed the terminal meanwhile.
    void enter();
    void leave();

    // Opened anew, so that not waiting when it takes nothing concerns nobody else. For poll().
    [[nodiscard]] int fd() const { return fd_.get(); }
    [[nodiscard]] screen::Size size() const;
    [[nodiscard]] static screen::Look look();

    // What was typed; nullopt: the terminal is gone.
    std::optional<std::string> read();

    // Shows a page by one write(2) of what differs. False: the terminal has not taken the one
    // before yet, so this one is left out.
    bool show(screen::Page page);
    // Goes on with what the terminal has not taken.
    void write_on();
    [[nodiscard]] bool has_unwritten() const { return !unwritten_.empty(); }

private:
    explicit TopTerminal(UniqueFd fd) : fd_(std::move(fd)) {}

    UniqueFd fd_;
    termios before_{};
    bool is_entered_ = false;
    std::string unwritten_;
    std::optional<screen::Page> shown_;
};

}  // namespace bobbin::daemon

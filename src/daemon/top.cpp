// SPDX-License-Identifier: Apache-2.0
#include "daemon/top.h"

#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "cli/errors.h"
#include "cli/exit_status.h"
#include "daemon/sampling.h"
#include "daemon/signals.h"
#include "daemon/top_rounds.h"
#include "daemon/top_terminal.h"
#include "screen/keys.h"
#include "screen/top_screen.h"

namespace bobbin::daemon {
namespace {

// How long the rest of a key's sequence may take, over a slow line too.
constexpr int kSequenceMilliseconds = 100;
// Of --max-memory, for the stacks of the window. Naming them takes about as much again, twice while
// one snapshot follows the other.
constexpr std::uint64_t kPartForWindow = 8;

int say(const cli::UserError& error) {
    cli::print(error);
    return error.exit_status;
}

// What is logged would be written across the page.
class QuietLog {
public:
    QuietLog() : before_(spdlog::get_level()) {
        if (::isatty(STDERR_FILENO) == 1) spdlog::set_level(spdlog::level::off);
    }
    ~QuietLog() { spdlog::set_level(before_); }
    QuietLog(const QuietLog&) = delete;
    QuietLog& operator=(const QuietLog&) = delete;

private:
    spdlog::level::level_enum before_;
};

// The terminal's side: keys, signals and snapshots in, pages out. Main thread.
class TopSession {
public:
    TopSession(Sampling& sampling, TopRounds& rounds, TopTerminal& terminal, Signals& signals)
        : sampling_(sampling),
          rounds_(rounds),
          terminal_(terminal),
          signals_(signals),
          screen_(TopTerminal::look()) {}

    void run() {
        terminal_.enter();
        while (!has_ended_) {
            if (needs_page_ && terminal_.show(screen_.draw(terminal_.size()))) needs_page_ = false;
            wait();
        }
    }

private:
    void wait() {
        const auto for_terminal =
            static_cast<short>(POLLIN | (terminal_.has_unwritten() ? POLLOUT : 0));
        pollfd waiting[] = {{.fd = signals_.fd(), .events = POLLIN, .revents = 0},
                            {.fd = terminal_.fd(), .events = for_terminal, .revents = 0},
                            {.fd = rounds_.fd(), .events = POLLIN, .revents = 0}};
        const int patience = keys_.is_in_sequence() ? kSequenceMilliseconds : -1;
        const int ready = ::poll(waiting, std::size(waiting), patience);
        if (ready == 0) press(keys_.give_up_sequence());
        if (ready <= 0) return;
        if (waiting[0].revents != 0) take_signals();
        if ((waiting[1].revents & POLLOUT) != 0) terminal_.write_on();
        if ((waiting[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_keys();
        if (waiting[2].revents != 0) take_snapshot();
    }

    void take_signals() {
        while (const auto event = signals_.take()) {
            switch (event->signal) {
                case SIGTSTP:
                    pause_process();
                    break;
                case SIGCONT:
                    terminal_.enter();
                    needs_page_ = true;
                    break;
                case SIGWINCH:
                    needs_page_ = true;
                    break;
                default:
                    has_ended_ = true;
            }
        }
    }

    // Ctrl-Z. The ring would be full in seconds: so nothing is sampled until fg. bg stops this
    // process again, in enter().
    void pause_process() {
        terminal_.leave();
        const auto stopped = sampling_.events.stop();
        ::kill(::getpid(), SIGSTOP);
        terminal_.enter();
        const auto started = sampling_.events.start();
        if (!stopped || !started) spdlog::error("sampling did not stop and start again");
        needs_page_ = true;
    }

    void read_keys() {
        const std::optional<std::string> typed = terminal_.read();
        if (!typed) {
            has_ended_ = true;
            return;
        }
        press(keys_.read(*typed));
    }

    void press(const std::vector<screen::Key>& keys) {
        for (const screen::Key& key : keys) {
            has_ended_ |= screen_.press(key) == screen::TopScreen::Answer::kQuit;
            needs_page_ = true;
        }
    }

    void take_snapshot() {
        if (auto snapshot = rounds_.fetch()) screen_.show(std::move(snapshot));
        sampling_.events.follow_online_cpus();
        needs_page_ = true;
    }

    Sampling& sampling_;
    TopRounds& rounds_;
    TopTerminal& terminal_;
    Signals& signals_;
    screen::TopScreen screen_;
    screen::KeyReader keys_;
    bool needs_page_ = true;
    bool has_ended_ = false;
};

cli::UserError explain_no_terminal(const Error& error) {
    return {.what = "top needs a terminal: " + error.message(),
            .why = "what is to be kept, or read by a program, is recorded",
            .run = "sudo bobbin record -d 10",
            .exit_status = cli::kExitFailure};
}

}  // namespace

int top(const cli::TopCommand& command, std::span<const std::string> invocation) {
    auto terminal = TopTerminal::open();
    if (!terminal) return say(explain_no_terminal(terminal.error()));
    auto signals = Signals::open({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH});
    if (!signals) return say(cli::explain_failure(signals.error()));
    auto sampling = prepare_sampling(command.sampling, std::nullopt, invocation);
    if (!sampling) return say(sampling.error());
    if (const auto started = start(*sampling); !started) {
        return say(cli::explain_failure(started.error()));
    }
    auto rounds = TopRounds::start(
        *sampling, {.interval = command.interval,
                    .frequency_hz = command.sampling.frequency_hz,
                    .max_stack_bytes = command.sampling.max_memory_bytes / kPartForWindow});
    if (!rounds) return say(cli::explain_failure(rounds.error()));
    {
        const QuietLog quiet;
        TopSession(*sampling, **rounds, **terminal, *signals).run();
        (*terminal)->leave();
    }
    if (!(*rounds)->stop()) std::_Exit(cli::kExitOk);
    return cli::kExitOk;
}

}  // namespace bobbin::daemon

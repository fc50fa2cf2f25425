// SPDX-License-Identifier: Apache-2.0
// `bobbin top` as a terminal sees it: a pseudo-terminal (pty(7)), and a real one, tmux.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <array>
#include <chrono>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kProgram[] = "known_chain.gcc.pie";
constexpr std::string_view kEnters = "\x1b[?1049h";
constexpr std::string_view kLeaves = "\x1b[?1049l";

// `bobbin top` on a pseudo-terminal of 120 columns and 40 lines. Killed at the end.
class TopOnTerminal {
public:
    explicit TopOnTerminal(const std::vector<std::string>& options, const char* no_color = "") {
        const winsize size{.ws_row = 40, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
        int controller = -1;
        int terminal = -1;
        EXPECT_EQ(::openpty(&controller, &terminal, nullptr, nullptr, &size), 0);
        EXPECT_EQ(::fcntl(controller, F_SETFD, FD_CLOEXEC), 0);
        controller_.reset(controller);
        terminal_.reset(terminal);
        EXPECT_EQ(::tcgetattr(terminal, &before_), 0);
        std::vector<std::string> words{program_path(), "top"};
        words.insert(words.end(), options.begin(), options.end());
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        pid_ = ::fork();
        if (pid_ != 0) return;
        ::login_tty(terminal);
        ::setenv("NO_COLOR", no_color, 1);
        ::setenv("LC_ALL", "C.UTF-8", 1);
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    ~TopOnTerminal() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    TopOnTerminal(const TopOnTerminal&) = delete;
    TopOnTerminal& operator=(const TopOnTerminal&) = delete;

    // Until what was written since the last time contains `text`.
    bool wait_for(std::string_view text) {
        const auto deadline = std::chrono::steady_clock::now() + kGenerousTimeout;
        while (std::chrono::steady_clock::now() < deadline) {
            if (const auto at = unseen_.find(text); at != std::string::npos) {
                unseen_.erase(0, at + text.size());
                return true;
            }
            if (!read_more()) return false;
        }
        return false;
    }

    void type(std::string_view keys) const {
        EXPECT_EQ(::write(controller_.get(), keys.data(), keys.size()),
                  static_cast<ssize_t>(keys.size()));
    }
    void send_signal(int signal) const { EXPECT_EQ(::kill(pid_, signal), 0); }

    // True once it has stopped, as a shell with jobs would see it.
    bool wait_until_stopped() {
        int status = 0;
        return ::waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status);
    }

    // 128 + signal when a signal ended it; what was written until then has been read.
    int exit_status() {
        int status = 0;
        EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
        pid_ = -1;
        pollfd waits{.fd = controller_.get(), .events = POLLIN, .revents = 0};
        while (::poll(&waits, 1, 0) == 1 && (waits.revents & POLLIN) != 0 && read_more()) {
        }
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }

    [[nodiscard]] const std::string& unseen() const { return unseen_; }
    [[nodiscard]] const std::string& all() const { return all_; }

    // The terminal's second screen was left and its modes are as they were.
    void expect_given_back() const {
        EXPECT_THAT(unseen_, HasSubstr(kLeaves));
        EXPECT_THAT(unseen_, HasSubstr("\x1b[?25h")) << "the cursor";
        termios now{};
        ASSERT_EQ(::tcgetattr(terminal_.get(), &now), 0);
        EXPECT_EQ(now.c_lflag, before_.c_lflag);
        EXPECT_EQ(now.c_iflag, before_.c_iflag);
        EXPECT_EQ(now.c_oflag, before_.c_oflag);
    }

private:
    bool read_more() {
        pollfd waits{.fd = controller_.get(), .events = POLLIN, .revents = 0};
        const auto patience = std::chrono::milliseconds{kGenerousTimeout}.count();
        if (::poll(&waits, 1, static_cast<int>(patience)) != 1) return false;
        std::array<char, 65536> bytes{};
        const ssize_t count = ::read(controller_.get(), bytes.data(), bytes.size());
        if (count <= 0) return false;
        unseen_.append(bytes.data(), static_cast<std::size_t>(count));
        all_.append(bytes.data(), static_cast<std::size_t>(count));
        return true;
    }

    UniqueFd controller_;
    UniqueFd terminal_;
    termios before_{};
    pid_t pid_ = -1;
    std::string unseen_;
    std::string all_;
};

// Something to look at; runs until the end of the test.
class Top : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(load_.wait_for_output("running")); }
    [[nodiscard]] std::vector<std::string> target() const {
        return {"-p", std::to_string(load_.pid()), "--interval", "200ms"};
    }

    ChildProcess load_{{fixture_path(kProgram)}};
};

TEST_F(Top, ShowsFunctionsOfItsTargetAndQuits) {
    TopOnTerminal top(target());
    ASSERT_TRUE(top.wait_for(kEnters));
    ASSERT_TRUE(top.wait_for("chain_25")) << top.unseen();
    ASSERT_TRUE(top.wait_for(kProgram)) << "the module";
    top.type("q");
    EXPECT_EQ(top.exit_status(), 0);
    top.expect_given_back();
}

TEST_F(Top, ShowsFlamesProcessesAndWhatMatches) {
    TopOnTerminal top(target());
    ASSERT_TRUE(top.wait_for("chain_25")) << top.unseen();
    top.type("f");
    ASSERT_TRUE(top.wait_for("▏_start")) << top.unseen();
    ASSERT_TRUE(top.wait_for("▏chain_01")) << top.unseen();
    top.type("p");
    ASSERT_TRUE(top.wait_for("(" + std::to_string(load_.pid()) + ")")) << top.unseen();
    top.type("p/^chain_07$\r");
    ASSERT_TRUE(top.wait_for("/^chain_07$")) << top.unseen();
    top.type("q");
    EXPECT_EQ(top.exit_status(), 0);
}

TEST_F(Top, GivesTheTerminalBackOnEverySignalThatEndsIt) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        SCOPED_TRACE(signal);
        TopOnTerminal top(target());
        ASSERT_TRUE(top.wait_for("self*"));
        top.send_signal(signal);
        EXPECT_EQ(top.exit_status(), 0);
        top.expect_given_back();
    }
}

TEST_F(Top, EndsByCtrlC) {
    TopOnTerminal top(target());
    ASSERT_TRUE(top.wait_for("self*"));
    top.type("\x03");
    EXPECT_EQ(top.exit_status(), 0);
    top.expect_given_back();
}

// As a crash of any thread does.
TEST_F(Top, GivesTheTerminalBackWhenItCrashes) {
    TopOnTerminal top(target());
    ASSERT_TRUE(top.wait_for("self*"));
    top.send_signal(SIGSEGV);
    EXPECT_EQ(top.exit_status(), 128 + SIGSEGV);
    top.expect_given_back();
}

TEST_F(Top, GivesTheTerminalBackWhileItIsStopped) {
    TopOnTerminal top(target());
    ASSERT_TRUE(top.wait_for("self*"));
    top.type("\x1a");
    ASSERT_TRUE(top.wait_until_stopped());
    ASSERT_TRUE(top.wait_for("\x1b[?25h"));
    ASSERT_TRUE(top.wait_for(kLeaves));
    top.send_signal(SIGCONT);
    ASSERT_TRUE(top.wait_for(kEnters));
    ASSERT_TRUE(top.wait_for("self*"));
    ASSERT_TRUE(top.wait_for("chain_25")) << "sampling goes on";
    top.type("q");
    EXPECT_EQ(top.exit_status(), 0);
    top.expect_given_back();
}

TEST_F(Top, EndsOnATerminalThatTakesNothing) {
    TopOnTerminal top(target());
    ASSERT_TRUE(top.wait_for(kEnters));
    // More than a pty holds (64 KiB at most): every key draws another page.
    for (int i = 0; i < 300; ++i) top.type("f");
    top.send_signal(SIGTERM);
    EXPECT_EQ(top.exit_status(), 0);
}

// SGR 0, 1 and 7: plain, bold, reverse.
TEST_F(Top, HasNoColoursWhereNoneAreWanted) {
    for (const char* no_color : {"1", ""}) {
        TopOnTerminal top(target(), no_color);
        ASSERT_TRUE(top.wait_for("chain_25"));
        top.type("f");
        ASSERT_TRUE(top.wait_for("▏_start"));
        top.type("q");
        EXPECT_EQ(top.exit_status(), 0);
        const std::regex colour("\x1b\\[(?![017]?m)[0-9;]*m");
        EXPECT_EQ(std::regex_search(top.all(), colour), *no_color == '\0') << top.all();
    }
}

TEST(TopWithoutTerminal, SaysThatOneRecordsThen) {
    const FinishedProcess finished = run_process({program_path(), "top"});
    EXPECT_EQ(finished.exit_status, 1);
    EXPECT_EQ(finished.standard_output, "");
    EXPECT_THAT(finished.standard_error,
                testing::MatchesRegex("bobbin: top needs a terminal.*\n.*\nrun:  sudo bobbin "
                                      "record .*\n"));
}

TEST(TopArguments, AreRefusedInThreeLines) {
    for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
             {"--interval", "1ms"}, {"--interval", "x"}, {"sleep", "1"}, {"-F", "0"}}) {
        std::vector<std::string> words{program_path(), "top"};
        words.insert(words.end(), options.begin(), options.end());
        const FinishedProcess finished = run_process(words);
        EXPECT_EQ(finished.exit_status, 2) << finished.standard_error;
        EXPECT_THAT(finished.standard_error, testing::MatchesRegex("bobbin: .*\n.*\nrun:  .*\n"));
    }
}

// A server of tmux that nobody else talks to, with one window.
class Tmux {
public:
    explicit Tmux(const std::string& command) {
        run({"-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", command});
    }
    ~Tmux() { run({"kill-server"}); }
    Tmux(const Tmux&) = delete;
    Tmux& operator=(const Tmux&) = delete;

    FinishedProcess run(const std::vector<std::string>& arguments) const {
        std::vector<std::string> words{"tmux", "-u", "-S", directory_ / "socket"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        return run_process(words, {{"LC_ALL", "C.UTF-8"}});
    }

    // The screen once it contains `text`; what it shows in the end, otherwise.
    std::string wait_for(const std::string& text) const {
        const auto deadline = std::chrono::steady_clock::now() + kGenerousTimeout;
        std::string screen;
        do {
            screen = run({"capture-pane", "-p"}).standard_output;
        } while (screen.find(text) == std::string::npos &&
                 std::chrono::steady_clock::now() < deadline);
        return screen;
    }

private:
    TemporaryDirectory directory_;
};

TEST_F(Top, LooksRightInARealTerminal) {
    const std::string command = "echo before; " + program_path() + " top -p " +
                                std::to_string(load_.pid()) +
                                " --interval 200ms; echo status $?; exec cat";
    const Tmux tmux(command);
    const std::string page = tmux.wait_for("chain_25");
    EXPECT_THAT(page, testing::MatchesRegex("bobbin top  [^\n]* CPUs busy  [^\n]* complete  [^\n]*"
                                            "lost[^\n]*\n(.*\n)* *self[*] *total process.*"));
    EXPECT_THAT(page, Not(HasSubstr("before"))) << "the second screen";
    tmux.run({"resize-window", "-x", "40", "-y", "10"});
    tmux.run({"send-keys", "f"});
    EXPECT_THAT(tmux.wait_for("▏main"), HasSubstr("▏all"));
    tmux.run({"send-keys", "q"});
    EXPECT_THAT(tmux.wait_for("status"), HasSubstr("before\nstatus 0"));
}

}  // namespace
}  // namespace bobbin::test

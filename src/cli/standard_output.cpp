// SPDX-License-Identifier: Apache-2.0
#include "cli/standard_output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "cli/errors.h"
#include "cli/exit_status.h"

namespace bobbin::cli {

Result<> write_text(std::FILE* stream, std::string_view text) {
    const std::size_t written = std::fwrite(text.data(), 1, text.size(), stream);
    if (written != text.size() || std::fflush(stream) != 0) return fail_with(errno, "write");
    return {};
}

Terminal terminal_of_standard_output() {
    if (::isatty(STDOUT_FILENO) != 1) return {};
    winsize size{};
    const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    const char* const no_color = std::getenv("NO_COLOR");
    return {.columns = is_known ? size.ws_col : std::size_t{0},
            .has_colours = no_color == nullptr || *no_color == '\0'};
}

int answer(std::string_view text) {
    const Result<> written = write_text(stdout, text);
    if (written) return kExitOk;
    print(UserError{"cannot write to standard output: " + written.error().code().message(),
                    {},
                    {},
                    kExitFailure});
    return kExitFailure;
}

}  // namespace bobbin::cli

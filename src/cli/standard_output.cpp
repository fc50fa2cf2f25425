// SPDX-License-Identifier: Apache-2.0
#include "cli/standard_output.h"

#include <cerrno>

#include "cli/errors.h"
#include "cli/exit_status.h"

namespace bobbin::cli {

Result<> write_text(std::FILE* stream, std::string_view text) {
    const std::size_t written = std::fwrite(text.data(), 1, text.size(), stream);
    if (written != text.size() || std::fflush(stream) != 0) return fail_with(errno, "write");
    return {};
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

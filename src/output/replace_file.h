// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "output/output_file.h"

namespace bobbin::output {

// A new file beside the one it is going to replace. Its name is random and made with O_EXCL, so
// nobody's symlink is followed, and its directory is held open, so renaming that directory's path
// elsewhere meanwhile changes nothing. Removed again unless put_in_place() succeeded.
class ReplacementFile {
public:
    static Result<ReplacementFile> create(const std::string& path);

    ReplacementFile(ReplacementFile&& other) noexcept;
    ReplacementFile& operator=(ReplacementFile&&) = delete;
    ~ReplacementFile();

    Result<> write(std::string_view bytes);
    // Mode 0644, the owner if there is one, the old file to PATH.old, this one to PATH. When it
    // fails, the old file stands where it stood.
    Result<> put_in_place(std::optional<FileOwner> owner);

private:
    ReplacementFile() = default;
    Result<bool> keep_old_file();

    UniqueFd directory_;
    UniqueFd file_;
    std::string path_;            // for messages
    std::string name_;            // in directory_
    std::string temporary_name_;  // in directory_; empty: nothing to remove
};

}  // namespace bobbin::output

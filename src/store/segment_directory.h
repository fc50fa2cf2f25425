// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bobbin::store {

// "2026-11-22/103000.000.pb.zst", of UTC, so that names are in the order of time whatever the
// clocks do in October; where that is taken, "2026-11-22/103000.000-2.pb.zst".
std::string segment_name(std::chrono::system_clock::time_point begin, unsigned number = 1);
std::optional<std::chrono::system_clock::time_point> time_of_segment(std::string_view name);

// The files of a store, without its index.
class SegmentDirectory {
public:
    // Files are for their owner to write and their group to read, whatever the umask.
    static constexpr unsigned kDirectoryMode = 0750;
    static constexpr unsigned kFileMode = 0640;

    struct File {
        std::string name;  // as segment_name() gives it
        std::uint64_t size_bytes = 0;
    };

    // Makes what is missing.
    static Result<SegmentDirectory> make(const std::string& path);
    static Result<SegmentDirectory> open(const std::string& path);

    // By name. What has another form of name is nobody's business.
    [[nodiscard]] Result<std::vector<File>> list() const;
    // At most `max_bytes` of its beginning.
    [[nodiscard]] Result<std::string> read(const std::string& name, std::size_t max_bytes) const;
    // When it returns, the file is there with all of `bytes`, also after a loss of power. Before
    // that nothing is seen of it but kUnfinished, which it takes away after an error.
    Result<std::string> write(std::chrono::system_clock::time_point begin, std::string_view bytes);
    // A file that is not there is no error.
    Result<> remove(const std::string& name);
    void remove_unfinished();

    static constexpr const char* kUnfinished = "segment.new";
    static constexpr const char* kSegments = "segments";

private:
    Result<> write_unfinished(std::string_view bytes);
    Result<std::string> put_in_place(std::chrono::system_clock::time_point begin);

    UniqueFd root_;
    UniqueFd segments_;
};

}  // namespace bobbin::store

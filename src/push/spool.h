// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bobbin::push {

// What waits to be sent: a directory with a file each, named by when it came. What a process that
// was killed left there is found again by the next one. Beyond `max_bytes` the oldest go. No two
// processes may use one directory. Any thread.
//
// After a loss of power what came last may be damaged, and what was removed last may be there
// again: things have to bear a checksum, as gzip's, by which their reader knows them.
class Spool {
public:
    struct Item {
        std::uint64_t number = 0;  // the later the higher
        std::uint64_t size = 0;
    };
    struct Facts {
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
        std::uint64_t dropped_count = 0;  // for want of room, since the start
    };

    Spool(std::string directory, std::uint64_t max_bytes);

    // One that cannot be written is dropped, and counted so, besides the error.
    Result<> append(std::string_view bytes);
    // The oldest, at most `max_count`.
    [[nodiscard]] std::vector<Item> oldest(std::size_t max_count) const;
    // Without waiting for those who append.
    [[nodiscard]] Result<std::string> read(const Item& item) const;
    // False: it had been dropped before.
    bool remove(const Item& item);

    [[nodiscard]] Facts facts() const;

private:
    [[nodiscard]] std::string path_of(std::uint64_t number) const;
    void find_files();
    // Gives what has to be removed.
    std::vector<Item> make_room(std::uint64_t size);
    void unlink(const std::vector<Item>& items) const;
    Result<> write(std::string_view bytes, std::uint64_t number) const;

    std::string directory_;
    std::uint64_t max_bytes_;
    std::mutex append_mutex_;  // taken before mutex_; a slow disk holds it for long
    mutable std::mutex mutex_;
    std::deque<Item> items_;
    std::uint64_t next_number_ = 1;
    std::uint64_t bytes_ = 0;
    std::uint64_t dropped_count_ = 0;
};

}  // namespace bobbin::push

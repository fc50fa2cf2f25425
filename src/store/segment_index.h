// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/segment_front.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace bobbin::store {

// Which segments there are, in index.db: what the files say, where it can be searched. The files
// are what counts: an index that is damaged, missing, behind or of another version is made again
// from them.
//
// It is in SQLite's WAL mode, whose readers and writer do not wait for each other: with a rollback
// journal a query that somebody stopped by Ctrl-Z would keep the service from writing. WAL's
// readers need index.db-shm and -wal, which they may not make in a directory they can only read; so
// these are kept when the writer leaves (SQLITE_FCNTL_PERSIST_WAL) and a reader has to be allowed
// no more than to read them (SQLite 3.22). A commit is not synced, which loses the last rows in a
// loss of power and nothing else.
class SegmentIndex {
public:
    // The writer's. One that is damaged is thrown away and begun again.
    static Result<SegmentIndex> open(const std::string& path);
    // An empty one, whatever is there, which whoever has it open keeps for himself.
    static Result<SegmentIndex> remake(const std::string& path);
    static Result<SegmentIndex> open_for_reading(const std::string& path);

    // In one transaction what `changes` does. After an error none of it is done.
    Result<> change(const std::function<Result<>()>& changes);
    // Gives its id. Of a file that is there already the rest is replaced.
    Result<std::int64_t> add(const SegmentFront& front);
    Result<> remove(const std::string& file);
    // Its file to what it needs, as soon as no reader keeps more. Of itself it does so in time.
    void shrink() { (void)database_->run("PRAGMA wal_checkpoint(TRUNCATE)"); }

    // Oldest first.
    [[nodiscard]] Result<std::vector<Segment>> all() const;
    [[nodiscard]] Result<std::vector<Segment>> find(const Range& range) const;
    // One after the other, so that their sums are not all in memory.
    [[nodiscard]] Result<> find_fronts(const Range& range,
                                       const std::function<void(const SegmentFront&)>& take) const;
    [[nodiscard]] Result<StoreFacts> facts() const;  // bytes of the segments alone

private:
    explicit SegmentIndex(Database database)
        : database_(std::make_unique<Database>(std::move(database))) {}
    static Result<SegmentIndex> begin(const std::string& path);

    std::unique_ptr<Database> database_;  // statements point to it
};

inline constexpr const char* kIndexFile = "index.db";

std::int64_t to_ns(Time time);
Time from_ns(std::int64_t ns);

}  // namespace bobbin::store

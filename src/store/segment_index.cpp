// SPDX-License-Identifier: Apache-2.0
#include "store/segment_index.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/unique_fd.h"

namespace bobbin::store {
namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t kVersion = 2;  // 1 had no sums
constexpr const char* kMakeTables =
    "BEGIN;"
    "CREATE TABLE segment(id INTEGER PRIMARY KEY, file TEXT NOT NULL UNIQUE,"
    " begin_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, sample_count INTEGER NOT NULL,"
    " cpu_ns INTEGER NOT NULL, size_bytes INTEGER NOT NULL) STRICT;"
    "CREATE INDEX segment_by_begin ON segment(begin_ns);"
    // A table of its own, so that what looks at segments alone has less to read.
    "CREATE TABLE cpu_sums(segment INTEGER PRIMARY KEY, sums BLOB NOT NULL) STRICT;"
    "PRAGMA user_version = 2;"
    "COMMIT;";
// The index counts as part of the store: it becomes smaller when segments leave, and its log has 64
// pages of 4 KiB instead of 1,000.
constexpr const char* kSetUp =
    "PRAGMA auto_vacuum = FULL;"
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = NORMAL;"
    "PRAGMA wal_autocheckpoint = 64;"
    "PRAGMA journal_size_limit = 262144;";
constexpr const char* kSegments =
    "SELECT id, file, begin_ns, duration_ns, sample_count, cpu_ns, size_bytes FROM segment ";
constexpr const char* kFronts =
    "SELECT id, file, begin_ns, duration_ns, sample_count, cpu_ns, size_bytes, sums "
    "FROM segment LEFT JOIN cpu_sums ON cpu_sums.segment = id ";
// One without a length is of the moment that it begins.
constexpr const char* kOfRange =
    "WHERE begin_ns < ?2 AND begin_ns + max(duration_ns, 1) > ?1 ORDER BY begin_ns, id";

Result<std::int64_t> number_of(const Database& database, const char* sql) {
    BOBBIN_TRY(Statement statement, Statement::prepare(database, sql));
    BOBBIN_TRY(const bool has_row, statement.step());
    return has_row ? statement.number(0) : 0;
}

Result<> check(const Database& database) {
    BOBBIN_TRY(Statement statement, Statement::prepare(database, "PRAGMA quick_check(1)"));
    BOBBIN_TRY(const bool has_row, statement.step());
    if (!has_row || statement.text(0) != "ok") return fail_with(EIO, "index.db is damaged");
    BOBBIN_TRY(const std::int64_t version, number_of(database, "PRAGMA user_version"));
    if (version != 0 && version != kVersion) {
        return fail_with(EIO, "index.db is of version {}", version);
    }
    return {};
}

// Readable by the group: -wal and -shm take the mode of the database.
Result<> make_file(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (!file.is_open()) return fail_with(errno, "open {}", path);
    return {};
}

Segment segment_in(const Statement& row) {
    return {.id = row.number(0),
            .file = row.text(1),
            .begin = from_ns(row.number(2)),
            .duration = nanoseconds{row.number(3)},
            .sample_count = static_cast<std::uint64_t>(row.number(4)),
            .cpu_ns = static_cast<std::uint64_t>(row.number(5)),
            .size_bytes = static_cast<std::uint64_t>(row.number(6))};
}

Result<std::vector<Segment>> read_rows(Statement& statement) {
    std::vector<Segment> segments;
    for (;;) {
        BOBBIN_TRY(const bool has_row, statement.step());
        if (!has_row) return segments;
        segments.push_back(segment_in(statement));
    }
}

Result<Statement> ask_for_range(const Database& database, const char* what, const Range& range) {
    const std::string sql = std::string(what) + kOfRange;
    BOBBIN_TRY(Statement statement, Statement::prepare(database, sql.c_str()));
    statement.bind(1, to_ns(range.begin));
    statement.bind(2, to_ns(range.end));
    return statement;
}

}  // namespace

std::int64_t to_ns(Time time) {
    return std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count();
}

Time from_ns(std::int64_t ns) {
    return Time{std::chrono::duration_cast<Time::duration>(nanoseconds{ns})};
}

Result<SegmentIndex> SegmentIndex::begin(const std::string& path) {
    BOBBIN_CHECK(make_file(path));
    BOBBIN_TRY(Database database, Database::open_for_writing(path));
    int persist = 1;
    sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
    BOBBIN_CHECK(database.run(kSetUp));
    BOBBIN_CHECK(check(database));
    BOBBIN_TRY(const std::int64_t version, number_of(database, "PRAGMA user_version"));
    if (version == 0) BOBBIN_CHECK(database.run(kMakeTables));
    // A column that is missing is found now and not at the first segment.
    BOBBIN_TRY([[maybe_unused]] const Statement columns, Statement::prepare(database, kFronts));
    return SegmentIndex(std::move(database));
}

Result<SegmentIndex> SegmentIndex::open(const std::string& path) {
    auto index = begin(path);
    if (index || index.error().code() == std::errc::no_space_on_device) return index;
    return remake(path);
}

Result<SegmentIndex> SegmentIndex::remake(const std::string& path) {
    for (const char* ending : {"", "-wal", "-shm"}) ::unlink((path + ending).c_str());
    return begin(path);
}

Result<SegmentIndex> SegmentIndex::open_for_reading(const std::string& path) {
    BOBBIN_TRY(Database database, Database::open_for_reading(path));
    return SegmentIndex(std::move(database));
}

Result<> SegmentIndex::change(const std::function<Result<>()>& changes) {
    BOBBIN_CHECK(database_->run("BEGIN IMMEDIATE"));
    Result<> changed = changes();
    if (changed) changed = database_->run("COMMIT");
    if (!changed) (void)database_->run("ROLLBACK");
    return changed;
}

Result<std::int64_t> SegmentIndex::add(const SegmentFront& front) {
    const Segment& segment = front.segment;
    BOBBIN_CHECK(remove(segment.file));
    BOBBIN_TRY(Statement statement,
               Statement::prepare(*database_,
                                  "INSERT INTO segment(file, begin_ns,"
                                  " duration_ns, sample_count, cpu_ns, size_bytes)"
                                  " VALUES(?1, ?2, ?3, ?4, ?5, ?6)"));
    statement.bind(1, segment.file);
    statement.bind(2, to_ns(segment.begin));
    statement.bind(3, segment.duration.count());
    statement.bind(4, static_cast<std::int64_t>(segment.sample_count));
    statement.bind(5, static_cast<std::int64_t>(segment.cpu_ns));
    statement.bind(6, static_cast<std::int64_t>(segment.size_bytes));
    BOBBIN_CHECK(statement.run());
    const std::int64_t id = sqlite3_last_insert_rowid(database_->handle());
    if (front.sums.empty()) return id;
    BOBBIN_TRY(Statement sums,
               Statement::prepare(*database_, "INSERT INTO cpu_sums VALUES(?1, ?2)"));
    sums.bind(1, id);
    sums.bind_bytes(2, front.sums);
    BOBBIN_CHECK(sums.run());
    return id;
}

Result<> SegmentIndex::remove(const std::string& file) {
    for (const char* sql :
         {"DELETE FROM cpu_sums WHERE segment = (SELECT id FROM segment WHERE file = ?1)",
          "DELETE FROM segment WHERE file = ?1"}) {
        BOBBIN_TRY(Statement statement, Statement::prepare(*database_, sql));
        statement.bind(1, file);
        BOBBIN_CHECK(statement.run());
    }
    return {};
}

Result<std::vector<Segment>> SegmentIndex::all() const {
    const std::string sql = std::string(kSegments) + "ORDER BY begin_ns, id";
    BOBBIN_TRY(Statement statement, Statement::prepare(*database_, sql.c_str()));
    return read_rows(statement);
}

Result<std::vector<Segment>> SegmentIndex::find(const Range& range) const {
    BOBBIN_TRY(Statement statement, ask_for_range(*database_, kSegments, range));
    return read_rows(statement);
}

Result<> SegmentIndex::find_fronts(const Range& range,
                                   const std::function<void(const SegmentFront&)>& take) const {
    BOBBIN_TRY(Statement statement, ask_for_range(*database_, kFronts, range));
    for (;;) {
        BOBBIN_TRY(const bool has_row, statement.step());
        if (!has_row) return {};
        take({.segment = segment_in(statement), .sums = statement.bytes(7)});
    }
}

Result<StoreFacts> SegmentIndex::facts() const {
    BOBBIN_TRY(Statement statement,
               Statement::prepare(*database_,
                                  "SELECT count(*), total(size_bytes), min(begin_ns),"
                                  " max(begin_ns + duration_ns) FROM segment"));
    BOBBIN_TRY(const bool has_row, statement.step());
    if (!has_row) return StoreFacts{};
    return StoreFacts{.segment_count = static_cast<std::uint64_t>(statement.number(0)),
                      .bytes = static_cast<std::uint64_t>(statement.number(1)),
                      .oldest = from_ns(statement.number(2)),
                      .newest = from_ns(statement.number(3))};
}

}  // namespace bobbin::store

// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite.h"

#include <cerrno>
#include <utility>

namespace bobbin::store {
namespace {

int errno_of(int code) {
    switch (code & 0xff) {  // the rest says more of the same
        case SQLITE_FULL:
            return ENOSPC;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return EBUSY;
        case SQLITE_PERM:
        case SQLITE_AUTH:
        case SQLITE_READONLY:
            return EACCES;
        case SQLITE_NOMEM:
            return ENOMEM;
        default:
            return EIO;
    }
}

}  // namespace

Result<Database> Database::open(const std::string& path, int flags) {
    Database database;
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(
        path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, nullptr);
    database.handle_.reset(handle);  // there is one of a failure too
    if (code != SQLITE_OK) return fail_with(errno_of(code), "open {}", path);
    sqlite3_extended_result_codes(handle, 1);
    // A reader's look takes a few milliseconds.
    sqlite3_busy_timeout(handle, 200);
    return database;
}

Result<Database> Database::open_for_reading(const std::string& path) {
    return open(path, SQLITE_OPEN_READONLY);
}

Result<Database> Database::open_for_writing(const std::string& path) {
    return open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Failure Database::failure(const char* attempted) const {
    return fail_with(errno_of(sqlite3_errcode(handle_.get())), "index: {}: {}", attempted,
                     sqlite3_errmsg(handle_.get()));
}

Result<> Database::run(const char* sql) {
    if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
        return failure(sql);
    }
    return {};
}

Result<Statement> Statement::prepare(const Database& database, const char* sql) {
    Statement statement(database);
    sqlite3_stmt* handle = nullptr;
    if (sqlite3_prepare_v2(database.handle(), sql, -1, &handle, nullptr) != SQLITE_OK) {
        return database.failure(sql);
    }
    statement.handle_.reset(handle);
    return statement;
}

void Statement::bind(int parameter, std::int64_t number) {
    sqlite3_bind_int64(handle_.get(), parameter, number);
}

void Statement::bind(int parameter, const std::string& text) {
    sqlite3_bind_text(handle_.get(), parameter, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
}

void Statement::bind_bytes(int parameter, std::string_view bytes) {
    sqlite3_bind_blob(handle_.get(), parameter, bytes.data(), static_cast<int>(bytes.size()),
                      SQLITE_TRANSIENT);
}

Result<bool> Statement::step() {
    const int code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return database_->failure(sqlite3_sql(handle_.get()));
}

Result<> Statement::run() {
    const Result<bool> stepped = step();
    sqlite3_reset(handle_.get());
    if (!stepped) return fail(stepped.error());
    return {};
}

std::string Statement::text(int column) const {
    const auto* const text =
        reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
    return text == nullptr ? std::string() : std::string(text);
}

std::string Statement::bytes(int column) const {
    const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
    const int size = sqlite3_column_bytes(handle_.get(), column);
    return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
}

}  // namespace bobbin::store

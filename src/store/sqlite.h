// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bobbin::store {

// As much of SQLite as the index needs. Errors carry an errno: ENOSPC for a full disk, EBUSY where
// somebody holds a lock, EIO for damage.
class Database {
public:
    // For reading alone, nothing is made or changed.
    static Result<Database> open_for_reading(const std::string& path);
    static Result<Database> open_for_writing(const std::string& path);

    // Statements without parameters and rows, one or several.
    Result<> run(const char* sql);

    [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
    [[nodiscard]] Failure failure(const char* attempted) const;

private:
    struct Close {
        void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
    };
    static Result<Database> open(const std::string& path, int flags);

    std::unique_ptr<sqlite3, Close> handle_;
};

// One statement. Its parameters are numbered from 1, columns from 0, as SQLite has it.
class Statement {
public:
    static Result<Statement> prepare(const Database& database, const char* sql);

    void bind(int parameter, std::int64_t number);
    void bind(int parameter, const std::string& text);  // which is copied
    void bind_bytes(int parameter, std::string_view bytes);
    // Whether there is a row; then columns can be read.
    Result<bool> step();
    // For statements without rows; may be bound and run again.
    Result<> run();

    [[nodiscard]] std::int64_t number(int column) const {
        return sqlite3_column_int64(handle_.get(), column);
    }
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] std::string bytes(int column) const;

private:
    struct Finalize {
        void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
    };
    explicit Statement(const Database& database) : database_(&database) {}

    const Database* database_;
    std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

}  // namespace bobbin::store

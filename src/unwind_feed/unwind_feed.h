// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "executable/build_executable.h"
#include "executable/catalog.h"
#include "unwind_feed/kernel_tables.h"
#include "unwind_feed/word_pool.h"
#include "unwind_table/shared_rules.h"

namespace bobbin::unwind_feed {

// Keeps the kernel's tables true: third step of open, build, publish. Order within a publication is
// what makes it safe while programs run: special rules, macros and words first, then the geometry,
// then the state that lets a program look. One thread.
class UnwindFeed {
public:
    UnwindFeed(KernelTables& kernel, unwind_table::SharedRules& shared,
               executable::Catalog& catalog)
        : kernel_(kernel), shared_(shared), catalog_(catalog) {}

    // Makes the table known to the kernel and the executable to the catalog. A table that finds no
    // room becomes a refused executable; an error means the kernel side could not be told at all.
    Result<> publish(executable::BuiltExecutable built);

    // The file could not be opened: whoever meets it next announces it again.
    Result<> forget(const abi::announcement& announcement);

    [[nodiscard]] std::uint64_t table_bytes() const { return pool_.words_taken() * 4; }

private:
    Result<> write_shared_rules();
    Result<> write_table(const executable::BuiltExecutable& built);

    KernelTables& kernel_;
    unwind_table::SharedRules& shared_;
    executable::Catalog& catalog_;
    WordPool pool_;
    std::size_t specials_written_ = 0;
    std::size_t macros_written_ = 0;
};

}  // namespace bobbin::unwind_feed

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/function_table.h"
#include "report/pattern.h"
#include "symbolize/named_profile.h"

namespace bobbin::screen {

struct Row {
    std::string process;   // name; of a row of a process with its number
    std::string function;  // of a process the one that it was met in most
    std::string module;    // path
    bool is_kernel = false;
    std::uint64_t self_count = 0;
    std::uint64_t total_count = 0;  // stacks that have it, each once
};

// A row for each function of each process's name, most first.
std::vector<Row> make_function_rows(const symbolize::NamedProfile& profile, report::Sort sort);

// A row for each process, most first.
std::vector<Row> make_process_rows(const symbolize::NamedProfile& profile);

// Rows whose function, process or module matches.
void keep_matching(const report::Pattern& pattern, std::vector<Row>& rows);

// Stacks whose process or one of whose functions or modules matches.
void keep_matching(const report::Pattern& pattern, symbolize::NamedProfile& profile);

std::string_view basename_of(std::string_view path);

}  // namespace bobbin::screen

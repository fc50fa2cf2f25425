// SPDX-License-Identifier: Apache-2.0
#include "bench/lookup_rows.h"

#include <bpf/bpf.h>

#include <cerrno>
#include <numeric>

#include "base/unique_fd.h"
#include "bobbin/bpf_abi.h"

namespace bobbin::bench {

RowTable make_rows(const unwind_table::Runs& runs, std::uint64_t base_file_offset) {
    RowTable table;
    std::uint16_t code = abi::CODE_NO_CFI;
    const auto begin_page = [&](std::uint64_t page, bool has_row_at_start) {
        const auto first = static_cast<std::uint32_t>(table.rows.size());
        if (!table.pages.empty()) table.pages.back().end_row = first;
        table.pages.push_back({page, first, first});
        if (!has_row_at_start) table.rows.push_back({0, code, 0});
    };
    for (const unwind_table::Run& run : runs.runs) {
        const std::uint64_t file_offset = base_file_offset + run.offset_from_base;
        const std::uint64_t page = file_offset >> 16;
        const auto low_offset = static_cast<std::uint16_t>(file_offset & 0xffff);
        while (table.pages.empty() || table.pages.back().page < page) {
            const std::uint64_t next = table.pages.empty() ? page : table.pages.back().page + 1;
            begin_page(next, next == page && low_offset == 0);
        }
        code = run.code;
        table.rows.push_back({low_offset, code, 0});
    }
    if (!table.pages.empty()) {
        table.pages.back().end_row = static_cast<std::uint32_t>(table.rows.size());
    }
    return table;
}

Result<> publish_rows(const RowMaps& maps, std::uint32_t executable_id, const RowTable& table) {
    const std::uint64_t id = executable_id;
    const auto row_count = static_cast<std::uint32_t>(table.rows.size());
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_INNER_MAP);
    const UniqueFd rows(bpf_map_create(BPF_MAP_TYPE_ARRAY, "rows", sizeof(std::uint32_t),
                                       sizeof(Row), row_count, &options));
    if (!rows.is_open()) return fail_with(errno, "make a map of {} rows", row_count);
    std::vector<std::uint32_t> keys(table.rows.size());
    std::iota(keys.begin(), keys.end(), 0U);
    std::uint32_t count = row_count;
    if (bpf_map_update_batch(rows.get(), keys.data(), table.rows.data(), &count, nullptr) != 0) {
        return fail_with(errno, "write {} rows", row_count);
    }
    const int rows_fd = rows.get();
    if (bpf_map_update_elem(maps.rows_of_executables_fd, &id, &rows_fd, BPF_ANY) != 0) {
        return fail_with(errno, "publish the rows of executable {}", id);
    }
    for (const RowPage& page : table.pages) {
        const struct {
            std::uint64_t executable_id;
            std::uint64_t page;
        } key{id, page.page};
        const struct {
            std::uint32_t first_row;
            std::uint32_t end_row;
        } value{page.first_row, page.end_row};
        if (bpf_map_update_elem(maps.pages_fd, &key, &value, BPF_ANY) != 0) {
            return fail_with(errno, "publish page {}", page.page);
        }
    }
    return {};
}

}  // namespace bobbin::bench

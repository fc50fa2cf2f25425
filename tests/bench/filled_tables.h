// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "executable/build_executable.h"
#include "golden/table_system_files.h"
#include "sampler/bpf_kernel_tables.h"
#include "sampler/bpf_program.h"
#include "unwind_feed/unwind_feed.h"

namespace bobbin::bench {

// The maps of the real program, filled the real way.
class FilledTables {
public:
    explicit FilledTables(const sampler::BpfProgram& program)
        : kernel_(program), feed_(kernel_, rules_, catalog_) {}

    // Gives the number of rows that the table stands for; 0: the file has no table.
    Result<std::uint64_t> add(const std::string& path, std::uint32_t executable_id) {
        executable::OpenedFile file;
        file.executable_id = executable_id;
        file.path = path;
        file.fd = test::open_for_reading(path);
        file.key.inode = executable_id;
        struct stat status{};
        if (::fstat(file.fd.get(), &status) != 0) return fail_with(errno, "stat {}", path);
        file.size_bytes = static_cast<std::uint64_t>(status.st_size);
        auto built = executable::build_executable(std::move(file), rules_);
        const std::uint64_t row_count = built.table ? built.table->row_count : 0;
        BOBBIN_CHECK(feed_.publish(std::move(built)));
        return row_count;
    }

    [[nodiscard]] unwind_table::SharedRules& rules() { return rules_; }

private:
    unwind_table::SharedRules rules_;
    executable::Catalog catalog_;
    sampler::BpfKernelTables kernel_;
    unwind_feed::UnwindFeed feed_;
};

}  // namespace bobbin::bench

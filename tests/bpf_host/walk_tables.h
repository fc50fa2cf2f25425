// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bpf_host/traced_mappings.h"
#include "bpf_host/traced_process.h"
#include "bpf_host/walk_on_host.h"
#include "executable/catalog.h"
#include "unwind_feed/kernel_tables.h"
#include "unwind_feed/unwind_feed.h"
#include "unwind_table/shared_rules.h"

namespace bobbin::test {

// The kernel side's maps are those of walk_on_host.
class WalkKernelTables : public unwind_feed::KernelTables {
public:
    WalkKernelTables() { walk_create_tables(); }
    Result<> write_words(std::uint32_t first_word, std::span<const std::uint32_t> words) override;
    Result<> write_special_rules(std::uint32_t first_index,
                                 std::span<const abi::special_rule> rules) override;
    Result<> write_macros(std::uint32_t first_index, std::span<const abi::macro> macros) override;
    Result<> set_executable(std::uint32_t executable_id,
                            const abi::executable& executable) override;
    Result<> set_file(const abi::file_key& key, const abi::file_entry& entry) override;

    // By executable id.
    [[nodiscard]] std::uint32_t state_of(std::uint32_t executable_id) const {
        return states_.at(executable_id);
    }

private:
    std::map<std::uint32_t, std::uint32_t> states_;
};

// The tables of every file that traced processes execute, made by the modules that make the
// kernel's: build_executable, UnwindFeed. One a process: walk_on_host has one set of tables.
class WalkTables {
public:
    // What the walker has to know of `process` as it is now; new files get their tables.
    std::vector<walk_mapping> mappings_of(const TracedProcess& process,
                                          const std::vector<TracedMapping>& mappings);
    // Files that got no table, and why.
    [[nodiscard]] std::vector<std::string> refused() const;

private:
    std::uint32_t id_of(const TracedProcess& process, const TracedMapping& mapping);
    void publish(executable::BuiltExecutable built);
    void build_vdso(const TracedProcess& process, const TracedMapping& mapping);

    WalkKernelTables kernel_;
    unwind_table::SharedRules shared_;
    executable::Catalog catalog_;
    unwind_feed::UnwindFeed feed_{kernel_, shared_, catalog_};
    std::map<std::pair<std::string, std::uint64_t>, std::uint32_t> ids_;
    bool has_vdso_ = false;
};

}  // namespace bobbin::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bpf_host/traced_mappings.h"
#include "bpf_host/traced_process.h"
#include "executable/catalog.h"
#include "unwind_feed/kernel_tables.h"
#include "unwind_feed/unwind_feed.h"
#include "unwind_table/shared_rules.h"
#include "user_walk/unwinder.h"

namespace bobbin::test {

// The kernel side's maps as plain arrays.
class WalkKernelTables : public unwind_feed::KernelTables {
public:
    WalkKernelTables();
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

    // Valid as long as this is.
    [[nodiscard]] user_walk::unwind_tables tables() const;

private:
    std::map<std::uint32_t, std::uint32_t> states_;
    std::vector<abi::executable> executables_;
    std::vector<abi::special_rule> special_rules_;
    std::vector<abi::macro> macros_;
    std::vector<std::vector<std::uint32_t>> buckets_;
    std::vector<const std::uint32_t*> bucket_words_;
};

// The tables of every file that traced processes execute, made by the modules that make the
// kernel's: build_executable, UnwindFeed. The unwinder walks by those that were last asked for.
class WalkTables {
public:
    // What the walker has to know of `process` as it is now; new files get their tables.
    std::vector<user_walk::walk_mapping> mappings_of(const TracedProcess& process,
                                                     const std::vector<TracedMapping>& mappings);
    [[nodiscard]] user_walk::unwind_tables tables() const { return kernel_.tables(); }
    // enum file_state, of a file that has an id.
    [[nodiscard]] std::uint32_t state_of(std::uint32_t executable_id) const {
        return kernel_.state_of(executable_id);
    }
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

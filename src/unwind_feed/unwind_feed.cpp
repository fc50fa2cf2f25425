// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/unwind_feed.h"

#include <optional>
#include <utility>

namespace bobbin::unwind_feed {

// What the codes of the next tables may refer to: all there is, whichever table brought it.
Result<> UnwindFeed::write_shared_rules() {
    const auto rules = shared_.specials.since(specials_written_);
    BOBBIN_CHECK(kernel_.write_special_rules(static_cast<std::uint32_t>(specials_written_), rules));
    specials_written_ += rules.size();
    const auto macros = shared_.macros.since(macros_written_);
    BOBBIN_CHECK(kernel_.write_macros(static_cast<std::uint32_t>(macros_written_), macros));
    macros_written_ += macros.size();
    return {};
}

Result<> UnwindFeed::write_table(const executable::BuiltExecutable& built) {
    const auto& table = *built.table;
    const std::optional<std::uint32_t> first_word = pool_.find_room(table.words.size());
    if (!first_word) {
        return fail("no room: unwind tables fill {} MiB", table_bytes() >> 20);
    }
    BOBBIN_CHECK(write_shared_rules());
    BOBBIN_CHECK(kernel_.write_words(*first_word, table.words));
    BOBBIN_CHECK(
        kernel_.set_executable(built.executable.id, {.base_file_offset = table.base_file_offset,
                                                     .first_word = *first_word,
                                                     .granule_count = table.granule_count,
                                                     .granule_shift = table.granule_shift,
                                                     .unused = 0}));
    pool_.take(*first_word, table.words.size());
    return {};
}

Result<> UnwindFeed::publish(executable::BuiltExecutable built) {
    if (built.table) {
        if (auto written = write_table(built); !written) {
            built.table.reset();
            built.executable.refused = written.error().message();
        }
    }
    const std::uint32_t id = built.executable.id;
    const bool ready = built.table.has_value();
    // The catalog first: a sample can name the executable as soon as the kernel side knows it.
    catalog_.add(std::move(built.executable));
    if (id == EXECUTABLE_ID_VDSO) return {};  // no inode: the program knows it by its address
    return kernel_.set_file(
        built.key, {.executable_id = id,
                    .state = static_cast<__u32>(ready ? abi::FILE_READY : abi::FILE_REFUSED)});
}

Result<> UnwindFeed::forget(const abi::announcement& announcement) {
    return kernel_.set_file(announcement.key, {.executable_id = announcement.executable_id,
                                               .state = abi::FILE_UNANNOUNCED});
}

}  // namespace bobbin::unwind_feed

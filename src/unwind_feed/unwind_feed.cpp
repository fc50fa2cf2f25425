// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/unwind_feed.h"

#include <cassert>
#include <utility>

namespace bobbin::unwind_feed {

Result<> UnwindFeed::write_table(const executable::BuiltExecutable& built) {
    const auto& table = *built.table;
    assert(table.words.size() % abi::WORDS_PER_CHUNK == 0 && "a group would straddle a bucket");
    constexpr std::uint64_t kPoolWords = std::uint64_t{abi::MAX_BUCKETS} * abi::BUCKET_WORDS;
    if (next_word_ + table.words.size() > kPoolWords) {
        return fail("no room: unwind tables fill {} MiB", table_bytes() >> 20);
    }
    const auto rules = specials_.since(specials_written_);
    BOBBIN_CHECK(kernel_.write_special_rules(static_cast<std::uint32_t>(specials_written_), rules));
    specials_written_ += rules.size();
    BOBBIN_CHECK(kernel_.write_words(next_word_, table.words));
    BOBBIN_CHECK(
        kernel_.set_executable(built.executable.id, {.base_file_offset = table.base_file_offset,
                                                     .first_word = next_word_,
                                                     .granule_count = table.granule_count,
                                                     .granule_shift = table.granule_shift,
                                                     .unused = 0}));
    next_word_ += static_cast<std::uint32_t>(table.words.size());
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

// SPDX-License-Identifier: Apache-2.0
#include "user_walk/mapped_tables.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "bobbin/bpf_abi.h"

namespace bobbin::user_walk {
namespace {

std::size_t whole_pages(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

}  // namespace

Result<MappedTables::Pages> MappedTables::Pages::map(int fd, std::size_t bytes) {
    bytes = whole_pages(bytes);
    void* const data = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) return fail_with(errno, "map the kernel's unwind tables");
    return Pages(data, bytes);
}

MappedTables::Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

MappedTables::Pages& MappedTables::Pages::operator=(Pages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

MappedTables::Pages::~Pages() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
}

MappedTables::MappedTables(const KernelMaps& maps, Pages executables, Pages special_rules,
                           Pages macros)
    : executables_(std::move(executables)),
      special_rules_(std::move(special_rules)),
      macros_(std::move(macros)),
      words_of_bucket_(maps.words_of_bucket),
      generation_(maps.generation),
      bucket_words_(abi::MAX_BUCKETS) {}

// An array map rounds its values up to 8 bytes, of which all of these are multiples.
Result<std::unique_ptr<MappedTables>> MappedTables::open(const KernelMaps& maps) {
    BOBBIN_TRY(auto executables,
               Pages::map(maps.executables_fd, sizeof(abi::executable) * abi::MAX_EXECUTABLES));
    BOBBIN_TRY(auto special_rules, Pages::map(maps.special_rules_fd,
                                              sizeof(abi::special_rule) * abi::MAX_SPECIAL_RULES));
    BOBBIN_TRY(auto macros, Pages::map(maps.macros_fd, sizeof(abi::macro) * abi::MAX_MACROS));
    return std::unique_ptr<MappedTables>(new MappedTables(
        maps, std::move(executables), std::move(special_rules), std::move(macros)));
}

unwind_tables MappedTables::tables() {
    const std::uint64_t now = std::atomic_ref(generation_).load(std::memory_order_acquire);
    // Another bucket may have got the number of one that was mapped.
    if (std::exchange(generation_of_buckets_, now) != now) {
        std::ranges::fill(bucket_words_, nullptr);
    }
    return {.executables = executables_.as<abi::executable>(),
            .special_rules = special_rules_.as<abi::special_rule>(),
            .macros = macros_.as<abi::macro>(),
            .buckets = bucket_words_.data()};
}

bool MappedTables::add_bucket(std::uint32_t bucket) {
    bucket_words_.at(bucket) = words_of_bucket_(bucket);
    return bucket_words_.at(bucket) != nullptr;
}

}  // namespace bobbin::user_walk

// SPDX-License-Identifier: Apache-2.0
#include "user_walk/mapped_tables.h"

#include <bpf/bpf.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/unique_fd.h"
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
      buckets_fd_(maps.buckets_fd),
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

void MappedTables::forget_buckets() {
    std::ranges::fill(bucket_words_, nullptr);
    buckets_.clear();
}

unwind_tables MappedTables::tables() {
    const std::uint64_t now = std::atomic_ref(generation_).load(std::memory_order_acquire);
    // Another bucket may have got the number of one that was mapped.
    if (std::exchange(generation_of_buckets_, now) != now) forget_buckets();
    return {.executables = executables_.as<abi::executable>(),
            .special_rules = special_rules_.as<abi::special_rule>(),
            .macros = macros_.as<abi::macro>(),
            .buckets = bucket_words_.data()};
}

bool MappedTables::add_bucket(std::uint32_t bucket) {
    __u32 map_id = 0;
    if (bpf_map_lookup_elem(buckets_fd_, &bucket, &map_id) != 0) return false;
    const UniqueFd map(bpf_map_get_fd_by_id(map_id));
    if (!map.is_open()) return false;
    auto pages = Pages::map(map.get(), abi::BUCKET_BYTES);
    if (!pages) {
        spdlog::debug("{}", pages.error().message());
        return false;
    }
    bucket_words_.at(bucket) = pages->as<std::uint32_t>();
    buckets_.insert_or_assign(bucket, std::move(*pages));
    return true;
}

}  // namespace bobbin::user_walk

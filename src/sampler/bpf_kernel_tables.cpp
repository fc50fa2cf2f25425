// SPDX-License-Identifier: Apache-2.0
#include "sampler/bpf_kernel_tables.h"

#include <bpf/bpf.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/unique_fd.h"
#include "bobbin/bpf_abi.h"

namespace bobbin::sampler {

// One array map of one value, mapped into this process.
class BpfKernelTables::Bucket {
public:
    static Result<std::unique_ptr<Bucket>> create() {
        LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
        UniqueFd fd(bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_bucket", sizeof(__u32),
                                   abi::BUCKET_BYTES, 1, &options));
        if (!fd.is_open()) return fail_with(errno, "make a bucket of unwind words");
        void* const words =
            ::mmap(nullptr, abi::BUCKET_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
        if (words == MAP_FAILED) return fail_with(errno, "map a bucket of unwind words");
        return std::unique_ptr<Bucket>(new Bucket(std::move(fd), words));
    }
    Bucket(const Bucket&) = delete;
    Bucket& operator=(const Bucket&) = delete;
    ~Bucket() { ::munmap(words_, abi::BUCKET_BYTES); }

    [[nodiscard]] int fd() const { return fd_.get(); }
    [[nodiscard]] const std::uint32_t* words() const {
        return static_cast<const std::uint32_t*>(words_);
    }
    void write(std::size_t word, std::span<const std::uint32_t> words) {
        std::memcpy(static_cast<std::byte*>(words_) + word * sizeof(std::uint32_t), words.data(),
                    words.size_bytes());
    }

private:
    Bucket(UniqueFd fd, void* words) : fd_(std::move(fd)), words_(words) {}
    UniqueFd fd_;
    void* words_;
};

BpfKernelTables::BpfKernelTables(const BpfProgram& program)
    : buckets_fd_(program.unwind_buckets_fd()),
      executables_fd_(program.executables_fd()),
      files_fd_(program.files_fd()),
      special_rules_fd_(program.special_rules_fd()),
      macros_fd_(program.macros_fd()),
      free_ids_fd_(program.free_executable_ids_fd()),
      id_count_(program.executable_id_count()),
      rule_generation_(program.rule_generation()),
      file_changes_(program.file_changes()),
      buckets_(abi::MAX_BUCKETS) {}
BpfKernelTables::~BpfKernelTables() = default;

// Waits for RCU, 8 to 16 ms: a program that looks the bucket up sees what it is to see.
Result<> BpfKernelTables::put_bucket(std::uint32_t bucket) {
    const int fd = buckets_[bucket]->fd();
    if (bpf_map_update_elem(buckets_fd_, &bucket, &fd, BPF_ANY) != 0) {
        return fail_with(errno, "add a bucket of unwind words");
    }
    return {};
}

Result<> BpfKernelTables::add_bucket(std::uint32_t bucket) {
    BOBBIN_TRY(buckets_[bucket], Bucket::create());
    auto put = put_bucket(bucket);
    if (!put) buckets_[bucket].reset();
    return put;
}

Result<> BpfKernelTables::drop_bucket(std::uint32_t bucket) {
    if (bpf_map_delete_elem(buckets_fd_, &bucket) != 0) {
        return fail_with(errno, "give a bucket of unwind words back");
    }
    buckets_[bucket].reset();
    return {};
}

const std::uint32_t* BpfKernelTables::words_of(std::uint32_t bucket) const {
    const auto& found = buckets_.at(bucket);
    return found ? found->words() : nullptr;
}

void BpfKernelTables::void_remembered_rules() {
    std::atomic_ref(rule_generation_).fetch_add(1, std::memory_order_release);
}

// Programs run inside an RCU read section, tail calls and all, and an update of an array of maps
// returns when all that ran before it have ended (maybe_wait_bpf_programs in kernel/bpf/syscall.c,
// since 5.0). Any such update does: that of a bucket by itself, or that of one just for this.
Result<> BpfKernelTables::wait_for_walks() {
    const auto some = std::ranges::find_if(buckets_, [](const auto& bucket) { return !!bucket; });
    if (some == buckets_.end()) {
        BOBBIN_CHECK(add_bucket(0));
        return drop_bucket(0);
    }
    return put_bucket(static_cast<std::uint32_t>(some - buckets_.begin()));
}

Result<> BpfKernelTables::write_words(std::uint32_t first_word,
                                      std::span<const std::uint32_t> words) {
    std::uint64_t word = first_word;
    while (!words.empty()) {
        const std::size_t at = word % abi::BUCKET_WORDS;
        const auto here = words.first(std::min(words.size(), abi::BUCKET_WORDS - at));
        buckets_[word >> abi::BUCKET_WORDS_SHIFT]->write(at, here);
        words = words.subspan(here.size());
        word += here.size();
    }
    return {};
}

Result<> BpfKernelTables::write_special_rules(std::uint32_t first_index,
                                              std::span<const abi::special_rule> rules) {
    for (__u32 index = first_index; const abi::special_rule& rule : rules) {
        if (bpf_map_update_elem(special_rules_fd_, &index, &rule, BPF_ANY) != 0) {
            return fail_with(errno, "write special rule {}", index);
        }
        ++index;
    }
    return {};
}

Result<> BpfKernelTables::write_macros(std::uint32_t first_index,
                                       std::span<const abi::macro> macros) {
    for (__u32 index = first_index; const abi::macro& macro : macros) {
        if (bpf_map_update_elem(macros_fd_, &index, &macro, BPF_ANY) != 0) {
            return fail_with(errno, "write macro {}", index);
        }
        ++index;
    }
    return {};
}

Result<> BpfKernelTables::set_executable(std::uint32_t executable_id,
                                         const abi::executable& executable) {
    const __u32 place = executable_id % abi::MAX_EXECUTABLES;
    if (bpf_map_update_elem(executables_fd_, &place, &executable, BPF_ANY) != 0) {
        return fail_with(errno, "publish executable {}", executable_id);
    }
    return {};
}

// The kernel puts the new state in another element and gives the old one to the next file that
// changes: whoever looks at it meanwhile shall know (bpf/identify_file.bpf.h).
Result<> BpfKernelTables::set_file(const abi::file_key& key, const abi::file_entry& entry) {
    std::atomic_ref(file_changes_).fetch_add(2, std::memory_order_seq_cst);
    if (bpf_map_update_elem(files_fd_, &key, &entry, BPF_ANY) != 0) {
        return fail_with(errno, "publish the state of inode {}", key.inode);
    }
    return {};
}

void BpfKernelTables::begin_forgetting() {
    std::atomic_ref(file_changes_).fetch_or(1, std::memory_order_seq_cst);
}

void BpfKernelTables::end_forgetting() {
    const std::atomic_ref changes(file_changes_);
    if (changes % 2 != 0) changes.fetch_add(1, std::memory_order_seq_cst);
}

Result<> BpfKernelTables::forget_file(const abi::file_key& key) {
    if (bpf_map_delete_elem(files_fd_, &key) != 0 && errno != ENOENT) {
        return fail_with(errno, "forget inode {}", key.inode);
    }
    return {};
}

Result<> BpfKernelTables::add_free_id(std::uint32_t executable_id) {
    if (bpf_map_update_elem(free_ids_fd_, nullptr, &executable_id, BPF_ANY) != 0) {
        return fail_with(errno, "give executable id {} back", executable_id);
    }
    return {};
}

}  // namespace bobbin::sampler

// SPDX-License-Identifier: Apache-2.0
#include "executable/hash_unwind_rows.h"

#define XXH_INLINE_ALL  // NOLINT(readability-identifier-naming): xxhash.h asks for this name
#include <xxhash.h>

#include <memory>
#include <random>
#include <type_traits>
#include <vector>

namespace bobbin::executable {
namespace {

// Fields one behind the other, without the padding that lies between them.
class FieldHash {
public:
    explicit FieldHash(std::uint64_t seed) : state_(XXH3_createState()) {
        XXH3_128bits_reset_withSeed(state_.get(), seed);
    }
    void add(const void* bytes, std::size_t count) {
        XXH3_128bits_update(state_.get(), bytes, count);
    }
    template <class... Fields>
    void add_fields(Fields... fields) {
        static_assert((std::has_unique_object_representations_v<Fields> && ...));
        (add(&fields, sizeof(fields)), ...);
    }
    [[nodiscard]] UnwindHash digest() const {
        const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
        return {hash.low64, hash.high64};
    }

private:
    struct Free {
        void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
    };
    std::unique_ptr<XXH3_state_t, Free> state_;
};

std::uint64_t seed_of_this_run() {
    static const std::uint64_t kSeed = [] {
        std::random_device random;
        return std::uint64_t{random()} << 32 | random();
    }();
    return kSeed;
}

void add_rule(FieldHash& hash, const cfi::UnwindRule& rule) {
    hash.add_fields(rule.cfa, rule.cfa_register, rule.rbp, rule.return_address, rule.signal_frame,
                    rule.changes_stack, rule.rbx_words, rule.cfa_offset, rule.cfa_addend,
                    rule.rbp_offset, rule.ra_offset);
}

}  // namespace

UnwindHash hash_unwind_rows(const cfi::UnwindRows& unwind,
                            std::span<const elf::LoadSegment> segments) {
    FieldHash hash(seed_of_this_run());
    hash.add_fields(std::uint64_t{segments.size()}, std::uint64_t{unwind.rules.size()},
                    unwind.base_file_vaddr);
    for (const elf::LoadSegment& segment : segments) {
        hash.add_fields(segment.file_offset, segment.file_size_bytes, segment.file_vaddr,
                        segment.memory_size_bytes, segment.executable);
    }
    for (const cfi::UnwindRule& rule : unwind.rules) add_rule(hash, rule);
    static_assert(std::has_unique_object_representations_v<cfi::UnwindRow>);
    hash.add(unwind.rows.data(), unwind.rows.size() * sizeof(cfi::UnwindRow));
    return hash.digest();
}

}  // namespace bobbin::executable

// SPDX-License-Identifier: Apache-2.0
#include "executable/content_key.h"

#define XXH_INLINE_ALL  // NOLINT(readability-identifier-naming): xxhash.h asks for this name
#include <xxhash.h>

#include <memory>
#include <random>
#include <type_traits>

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

// Lengths go before what they are the length of: the end of one section is never the next one's
// beginning.
void add_section(FieldHash& hash, const MaybeSection& section) {
    hash.add_fields(section.has_value());
    if (!section) return;
    hash.add_fields(section->file_vaddr, std::uint64_t{section->bytes.size()});
    hash.add(section->bytes.data(), section->bytes.size());
}

}  // namespace

std::optional<UnwindHash> hash_unwind_sections(const UnwindSections& sections,
                                               std::span<const elf::LoadSegment> segments) {
    FieldHash hash(seed_of_this_run());
    hash.add_fields(std::uint64_t{segments.size()});
    for (const elf::LoadSegment& segment : segments) {
        hash.add_fields(segment.file_offset, segment.file_size_bytes, segment.file_vaddr,
                        segment.memory_size_bytes, segment.executable);
    }
    for (const Result<MaybeSection>* const section :
         {&sections.go_functions, &sections.go_module, &sections.eh_frame, &sections.debug_frame,
          &sections.init, &sections.fini}) {
        if (!*section) return std::nullopt;
        add_section(hash, **section);
    }
    return hash.digest();
}

}  // namespace bobbin::executable

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "base/result.h"
#include "bobbin/bpf_abi.h"
#include "executable/catalog.h"
#include "executable/held_file.h"
#include "unwind_feed/kernel_tables.h"
#include "unwind_feed/last_sampled.h"

namespace bobbin::unwind_feed {

// Not sampled and not told of for so long: may be forgotten when ids run out.
constexpr std::chrono::nanoseconds kForgetAfter = std::chrono::seconds{1};

// The files that have an id, what the kernel was told of them, and how ids come back. An id never
// names a second file: its place in the kernel's maps comes back with the next id, higher by
// MAX_EXECUTABLES, and only when every sample that can hold the old one has been counted. One
// thread, but for what says otherwise.
class KnownFiles {
public:
    KnownFiles(KernelTables& kernel, executable::Catalog& catalog, LastSampled& last_sampled);

    // What was told last; FILE_ANNOUNCED: nothing yet; FILE_NO_ROOM: it was forgotten. Any thread.
    [[nodiscard]] abi::file_state state_of(std::uint32_t id) const;
    // False: forgotten, and its place may be another's.
    [[nodiscard]] bool is_current(std::uint32_t id) const;

    // `file`: none, where it never could be opened.
    void note(std::uint32_t id, const abi::file_key& key,
              const std::shared_ptr<const executable::HeldFile>& file,
              std::chrono::nanoseconds now);
    void set_state(std::uint32_t id, abi::file_state state);

    struct File {
        std::uint32_t id = 0;
        abi::file_key key{};
    };
    // Whether three quarters of the ids are in use.
    [[nodiscard]] bool are_ids_scarce() const;
    // Whom to forget so that a half is free: files without a name first, then those that were not
    // sampled for longest.
    [[nodiscard]] std::vector<File> choose_to_forget(std::chrono::nanoseconds now) const;

    // The kernel knows the file no more: no program that begins now gives its id out.
    void depart(std::uint32_t id);
    // Nor does any program that began before.
    void all_departures_are_over(std::chrono::nanoseconds now);
    [[nodiscard]] bool is_any_departing() const { return !departing_.empty(); }

    // All samples taken before `when` are counted. Any thread.
    void note_counted_until(std::chrono::nanoseconds when) { counted_until_ = when.count(); }
    // Gives ids back that no sample can hold that is still to come. What no sample ever showed
    // leaves the catalog. After an error the rest is still to be given back.
    Result<> give_ids_back();

private:
    struct Known {
        abi::file_key key{};
        std::chrono::nanoseconds since{};
        std::weak_ptr<const executable::HeldFile> file;
    };
    struct Departed {
        std::uint32_t id = 0;
        std::chrono::nanoseconds since{};
        bool is_out_of_use = false;  // but for its place in the kernel's queue
    };
    void put_out_of_use(Departed& departed);

    KernelTables& kernel_;
    executable::Catalog& catalog_;
    LastSampled& last_sampled_;
    std::map<std::uint32_t, Known> known_;
    std::vector<std::uint32_t> departing_;
    std::deque<Departed> departed_;
    // By place: [31:8] the id that it has or will have next  [7:0] enum file_state
    using Places = std::array<std::atomic<std::uint32_t>, abi::MAX_EXECUTABLES>;
    std::unique_ptr<Places> places_ = std::make_unique<Places>();
    std::atomic<std::int64_t> counted_until_ = 0;
};

}  // namespace bobbin::unwind_feed

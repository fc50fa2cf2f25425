// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/fold_runs.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "unwind_table/window_uses.h"

namespace bobbin::unwind_table {
namespace {

// Pushes and pops follow each other closely; then comes the body of the function, whose length is
// like no other's. Over /usr 16 bytes make 2 % more entries, 40 make 1 % fewer, in more time.
constexpr std::uint32_t kMaxDistanceInChain = 24;
// A macro used twice pays too, but then the dictionary is full sooner: 0.4 % fewer entries, 15 %
// more time.
constexpr std::uint32_t kMinUses = 3;

// Slots of the hash tables are fetched this many windows ahead.
constexpr std::size_t kPrefetchAhead = 12;

// How many entries a macro has to save in the file that brings it: the more, the less room there
// is, so that it lasts. One that fills up with what saves three leaves none for the few that Go's
// functions want, each a thousand times: 0.61 entries a row of theirs over /usr instead of 0.33.
std::uint64_t least_saved(std::size_t room) {
    return std::uint64_t{kMinUses} * abi::MAX_MACROS / std::max<std::size_t>(room, 1);
}

std::uint16_t macro_code(std::uint16_t index) {
    return static_cast<std::uint16_t>(abi::CODE_MACRO | index);
}

// A piece of a chain, that is, of runs that follow each other closely: as many as one macro can
// hold.
struct Segment {
    std::uint32_t first_run = 0;
    std::uint32_t fingerprint = 0;
    std::uint16_t code = 0;  // of the one entry that says it all, if `is_known`
    std::uint8_t run_count = 0;
    bool begins_chain : 1 = false;
    bool is_known : 1 = false;
};

class Folder {
public:
    Folder(std::span<const Run> runs, MacroDictionary& macros) : runs_(runs), macros_(macros) {}

    std::vector<Run> fold() {
        cut_into_segments();
        look_up_segments();
        teach();
        look_up_segments();
        entries_.reserve(segments_.size() + segments_.size() / 8);
        for (auto begin = segments_.begin(); begin != segments_.end();) {
            const auto end = std::find_if(begin + 1, segments_.end(), &Folder::begins_chain);
            fold_chain({begin, end});
            begin = end;
        }
        return std::move(entries_);
    }

private:
    static bool begins_chain(const Segment& segment) { return segment.begins_chain; }
    static bool is_known(const Segment& segment) { return segment.is_known; }

    [[nodiscard]] std::uint32_t distance(std::size_t from, std::size_t to) const {
        return runs_[to].offset_from_base - runs_[from].offset_from_base;
    }
    [[nodiscard]] bool fits_macro(std::size_t first, std::size_t last) const {
        return last - first < abi::MACRO_CODES && distance(first, last) <= abi::MACRO_MAX_DISTANCE;
    }

    void cut_into_segments() {
        segments_.reserve(runs_.size() / 4);
        bool begins_chain = true;
        for (std::size_t first = 0; first < runs_.size();) {
            RunFingerprint fingerprint(runs_[first]);
            std::size_t end = first + 1;
            while (end < runs_.size() && distance(end - 1, end) <= kMaxDistanceInChain &&
                   fits_macro(first, end)) {
                fingerprint.extend(runs_[end - 1], runs_[end]);
                ++end;
            }
            segments_.push_back({.first_run = static_cast<std::uint32_t>(first),
                                 .fingerprint = fingerprint.value(),
                                 .code = runs_[first].code,
                                 .run_count = static_cast<std::uint8_t>(end - first),
                                 .begins_chain = begins_chain,
                                 .is_known = end - first == 1});
            begins_chain = end < runs_.size() && distance(end - 1, end) > kMaxDistanceInChain;
            first = end;
        }
    }

    void look_up_segments() {
        for (std::size_t i = 0; i < segments_.size(); ++i) {
            if (i + kPrefetchAhead < segments_.size()) {
                macros_.prefetch(segments_[i + kPrefetchAhead].fingerprint);
            }
            Segment& segment = segments_[i];
            if (segment.is_known) {
                continue;
            }
            const auto index = macros_.find(
                {runs_.subspan(segment.first_run, segment.run_count), segment.fingerprint});
            if (index) {
                segment.code = macro_code(*index);
                segment.is_known = true;
            }
        }
    }

    // Puts into the dictionary what this file uses often: whole segments, and the two parts of
    // those that are too rare.
    void teach() {
        const auto known_count = std::ranges::count_if(segments_, &Folder::is_known);
        const std::size_t unknown_count = segments_.size() - static_cast<std::size_t>(known_count);
        if (unknown_count == 0) {
            return;
        }
        WindowUses uses(unknown_count);
        count(segments_, uses);
        count(parts_of_rare_segments(uses), uses);
        add_frequent(uses);
    }

    static void count(std::span<const Segment> segments, WindowUses& uses) {
        for (std::size_t i = 0; i < segments.size(); ++i) {
            if (i + kPrefetchAhead < segments.size()) {
                uses.prefetch(segments[i + kPrefetchAhead].fingerprint);
            }
            if (!segments[i].is_known) {
                uses.count(segments[i].fingerprint, segments[i].first_run, segments[i].run_count);
            }
        }
    }

    [[nodiscard]] std::vector<Segment> parts_of_rare_segments(WindowUses& uses) const {
        std::vector<Segment> parts;
        for (std::size_t i = 0; i < segments_.size(); ++i) {
            if (i + kPrefetchAhead < segments_.size()) {
                uses.prefetch(segments_[i + kPrefetchAhead].fingerprint);
            }
            const Segment& segment = segments_[i];
            if (!segment.is_known && segment.run_count > 2 &&
                uses.uses_of(segment.fingerprint, segment.run_count) < kMinUses) {
                const std::size_t cut = longest_distance_in(segment);
                const std::size_t end = segment.first_run + segment.run_count;
                add_part(segment.first_run, cut, parts);
                add_part(cut, end, parts);
            }
        }
        return parts;
    }

    // The run behind it.
    [[nodiscard]] std::size_t longest_distance_in(const Segment& segment) const {
        std::size_t longest = segment.first_run + 1;
        for (std::size_t i = longest + 1; i < segment.first_run + segment.run_count; ++i) {
            if (distance(i - 1, i) > distance(longest - 1, longest)) {
                longest = i;
            }
        }
        return longest;
    }

    void add_part(std::size_t first, std::size_t end, std::vector<Segment>& parts) const {
        if (end - first < 2) {
            return;
        }
        RunFingerprint fingerprint(runs_[first]);
        for (std::size_t i = first + 1; i < end; ++i) {
            fingerprint.extend(runs_[i - 1], runs_[i]);
        }
        parts.push_back({.first_run = static_cast<std::uint32_t>(first),
                         .fingerprint = fingerprint.value(),
                         .run_count = static_cast<std::uint8_t>(end - first)});
    }

    // What saves most entries comes first: the file's share of the dictionary may not do for all.
    void add_frequent(const WindowUses& uses) {
        const std::uint64_t least = least_saved(abi::MAX_MACROS - macros_.live_count());
        const auto entries_saved = [](const WindowUses::Use& use) {
            return std::uint64_t{use.uses} * (use.run_count - 1);
        };
        std::vector<WindowUses::Use> frequent;
        std::ranges::copy_if(uses.slots(), std::back_inserter(frequent),
                             [&](const WindowUses::Use& use) {
                                 return use.uses >= kMinUses && entries_saved(use) >= least;
                             });
        std::ranges::sort(frequent, [&](const auto& a, const auto& b) {
            return std::tuple(entries_saved(b), a.first_run, a.run_count) <
                   std::tuple(entries_saved(a), b.first_run, b.run_count);
        });
        std::vector<RunWindow> windows;
        windows.reserve(frequent.size());
        for (const WindowUses::Use& use : frequent) {
            windows.push_back({runs_.subspan(use.first_run, use.run_count), use.fingerprint});
        }
        macros_.add_of_one_file(windows);
    }

    // Segments are as long as can be, so there is no better cut where each of them is an entry.
    void fold_chain(std::span<const Segment> chain) {
        if (std::ranges::all_of(chain, &Folder::is_known)) {
            for (const Segment& segment : chain) {
                push({runs_[segment.first_run].offset_from_base, segment.code});
            }
            return;
        }
        const std::size_t end = chain.back().first_run + chain.back().run_count;
        for (std::size_t run = chain.front().first_run; run < end;) {
            run += push_longest_macro(run, end);
        }
    }

    // Gives the number of runs it stands for; 1 where none of the macros fits. Always taking the
    // longest makes 0.4 % more entries than the fewest possible, and takes half the time.
    std::size_t push_longest_macro(std::size_t first, std::size_t chain_end) {
        std::array<std::uint32_t, abi::MACRO_CODES + 1> fingerprints{};  // by number of runs
        std::size_t count = 1;
        RunFingerprint fingerprint(runs_[first]);
        while (first + count < chain_end && fits_macro(first, first + count)) {
            fingerprint.extend(runs_[first + count - 1], runs_[first + count]);
            if (!macros_.may_begin_with(fingerprint.value())) {
                break;
            }
            fingerprints[++count] = fingerprint.value();
        }
        for (; count > 1; --count) {
            if (const auto index =
                    macros_.find({runs_.subspan(first, count), fingerprints[count]})) {
                push({runs_[first].offset_from_base, macro_code(*index)});
                return count;
            }
        }
        push(runs_[first]);
        return 1;
    }

    void push(const Run& entry) { entries_.push_back(entry); }

    std::span<const Run> runs_;
    MacroDictionary& macros_;
    std::vector<Segment> segments_;
    std::vector<Run> entries_;
};

}  // namespace

std::vector<Run> fold_runs(std::span<const Run> runs, MacroDictionary& macros) {
    return Folder(runs, macros).fold();
}

}  // namespace bobbin::unwind_table

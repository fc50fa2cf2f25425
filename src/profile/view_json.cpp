// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/html.h"
#include "profile/same_names.h"
#include "profile/string_table.h"
#include "profile/view_tree.h"

namespace bobbin::profile {
namespace {

// view/model.js says what becomes of it.
class ViewWriter {
public:
    ViewWriter(const symbolize::NamedProfile& profile, const symbolize::NamedProfile* base)
        : profiles_{&profile} {
        if (base == nullptr) return;
        profiles_.push_back(base);
        same_names_ = SameNames(profile, *base);
    }

    std::string write() {
        for (const symbolize::NamedProfile* profile : profiles_) {
            frames_by_location_.assign(profile->locations.size(), {});
            ViewSamples& samples = sides_.emplace_back();
            samples.reserve(profile->stacks.size());
            for (const symbolize::NamedStack& stack : profile->stacks) {
                samples.push_back(
                    {node_of(*profile, stack), owner_of(stack.labels), stack.count, stack.times});
            }
        }
        const std::uint64_t folded = nodes_.size() > kMostNodes ? fold_small_nodes() : 0;
        const nlohmann::json view{{"comments", profiles_.front()->comments},
                                  {"folded", folded},
                                  {"sides", write_sides()},
                                  {"frames", frames_.words()},
                                  {"nodes", nodes_.words()},
                                  {"owners", owners_},
                                  {"strings", strings_.take()}};
        // Names in a file are any bytes.
        return view.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }

private:
    using Owner = std::array<std::uint32_t, 4>;  // process, thread, unit, cpu

    std::uint32_t node_of(const symbolize::NamedProfile& profile,
                          const symbolize::NamedStack& stack) {
        std::uint32_t node = nodes_.child_of(ViewNodes::kNoParent, process_of(stack));
        for (const std::uint32_t index : std::views::reverse(stack.locations)) {
            const symbolize::Location& location = profile.locations[index];
            const std::vector<std::uint32_t>& frames = frames_at(profile, index);
            for (std::size_t i = location.lines.size(); i-- > 0;) {
                frames_.add(frames[i], location.lines[i].line, stack.count);
                node = nodes_.child_of(node, frames[i]);
            }
        }
        return node;
    }

    // A location is in many stacks: its names are looked up once.
    const std::vector<std::uint32_t>& frames_at(const symbolize::NamedProfile& profile,
                                                std::uint32_t index) {
        std::vector<std::uint32_t>& frames = frames_by_location_[index];
        const symbolize::Location& location = profile.locations[index];
        while (frames.size() < location.lines.size()) {
            frames.push_back(frame_of(profile, location, frames.size()));
        }
        return frames;
    }

    std::uint32_t number_of(std::string_view text) {
        return static_cast<std::uint32_t>(strings_.index_of(text));
    }

    bool is_compared() const { return profiles_.size() > 1; }

    std::uint32_t process_of(const symbolize::NamedStack& stack) {
        const std::string comm =
            is_compared() ? same_names_.process_of(stack.labels) : stack.labels.comm;
        const std::uint32_t name = number_of(comm.empty() ? "[unknown]" : comm);
        return frames_.number_of({name, 0, 0, kViewProcess});
    }

    std::uint32_t frame_of(const symbolize::NamedProfile& profile,
                           const symbolize::Location& location, std::size_t line_index) {
        const symbolize::Line& line = location.lines[line_index];
        std::uint32_t flags = location.is_kernel ? kViewKernel : 0;
        if (!location.is_named) flags |= kViewUnnamed;
        // Between two builds a function may have moved to another file or been inlined.
        if (is_compared()) {
            return frames_.number_of({number_of(same_names_.function_of(profile, location, line)),
                                      number_of(same_names_.module_of(profile, location)), 0,
                                      flags});
        }
        if (line_index + 1 < location.lines.size()) flags |= kViewInlined;
        const symbolize::Function& function = profile.functions[line.function];
        const std::string& module = location.mapping < profile.mappings.size()
                                        ? profile.mappings[location.mapping].file
                                        : std::string();
        return frames_.number_of(
            {number_of(function.name), number_of(module), number_of(function.file), flags});
    }

    std::uint32_t owner_of(const symbolize::SampleLabels& labels) {
        // The pids of two recordings have nothing to do with each other.
        const std::string process = is_compared() ? same_names_.process_of(labels)
                                                  : fmt::format("{} ({})", labels.comm, labels.pid);
        const Owner owner{number_of(process), number_of(labels.thread), number_of(labels.unit),
                          number_of(std::to_string(labels.cpu))};
        const auto [found, is_new] =
            number_by_owner_.try_emplace(owner, static_cast<std::uint32_t>(owners_.size() / 4));
        if (is_new) owners_.insert(owners_.end(), owner.begin(), owner.end());
        return found->second;
    }

    // Above a node stands one marked frame for all that are too small to be seen there, and on it
    // those that samples end in: what each function takes itself stays exact.
    std::uint64_t fold_small_nodes() {
        const SmallNodes small = find_small_nodes(nodes_, sides_, kLeastShare);
        ViewNodes kept;
        std::vector<std::uint32_t> moved(nodes_.size());
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            if (!small.is_kept[node]) continue;
            const std::uint32_t parent = nodes_.parent_of(node);
            moved[node] = kept.child_of(parent == ViewNodes::kNoParent ? parent : moved[parent],
                                        nodes_.frame_of(node));
        }
        for (ViewSample& sample : std::views::join(sides_)) {
            const std::uint32_t place = small.place_of[sample.node];
            const std::uint32_t frame = nodes_.frame_of(sample.node);
            const bool is_kept = small.is_kept[sample.node];
            sample.node = moved[place];
            if (is_kept) continue;
            const std::uint32_t name =
                number_of(fmt::format("({} small frames)", small.count_at[place]));
            const std::uint32_t mark = frames_.number_of({name, 0, 0, kViewSmall});
            sample.node = kept.child_of(kept.child_of(sample.node, mark), frame);
        }
        nodes_ = std::move(kept);
        return small.count;
    }

    nlohmann::json write_sides() {
        nlohmann::json sides = nlohmann::json::array();
        for (std::size_t i = 0; i < sides_.size(); ++i) {
            merge_samples(sides_[i]);
            sides.push_back(write_side(*profiles_[i], sides_[i]));
        }
        return sides;
    }

    static nlohmann::json write_side(const symbolize::NamedProfile& profile,
                                     const ViewSamples& samples) {
        std::vector<std::uint64_t> places;
        std::uint32_t last = 0;
        for (const ViewSample& sample : samples) {
            places.insert(places.end(), {sample.node - last, sample.owner, sample.count});
            last = sample.node;
        }
        return {{"title", title_of(profile)},
                {"period_ns", profile.period.count()},
                {"duration_ns", profile.duration.count()},
                {"bucket_ns", profile.time_bucket.count()},
                {"samples", places},
                {"times", write_times(profile, samples)}};
    }

    // Nearly all counts are 1, and a distance is small: 1.5 bytes a sample once it is packed.
    static std::vector<std::uint64_t> write_times(const symbolize::NamedProfile& profile,
                                                  const ViewSamples& samples) {
        std::vector<std::uint64_t> words;
        if (profile.time_bucket.count() == 0) return words;
        for (const ViewSample& sample : samples) {
            words.push_back(sample.times.size());
            std::uint32_t last = 0;
            for (const aggregate::TimeCount& time : sample.times) {
                const std::uint64_t distance = time.bucket - last;
                words.push_back(2 * distance + (time.count == 1 ? 0 : 1));
                if (time.count != 1) words.push_back(time.count);
                last = time.bucket;
            }
        }
        return words;
    }

    // Above this a page takes more than a second to answer; below, nothing is left out.
    static constexpr std::size_t kMostNodes = 200'000;
    static constexpr double kLeastShare = 1e-4;

    std::vector<const symbolize::NamedProfile*> profiles_;
    SameNames same_names_;
    StringTable strings_;
    ViewFrames frames_;
    std::vector<std::vector<std::uint32_t>> frames_by_location_;  // of the profile at hand
    ViewNodes nodes_;
    std::map<Owner, std::uint32_t> number_by_owner_;
    std::vector<std::uint32_t> owners_;
    std::vector<ViewSamples> sides_;
};

}  // namespace

std::string title_of(const symbolize::NamedProfile& profile) {
    return fmt::format("CPU profile of {:%F %T} UTC",
                       std::chrono::time_point_cast<std::chrono::seconds>(profile.started));
}

std::string encode_view_json(const symbolize::NamedProfile& profile,
                             const symbolize::NamedProfile* base) {
    return ViewWriter(profile, base).write();
}

}  // namespace bobbin::profile

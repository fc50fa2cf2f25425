// SPDX-License-Identifier: Apache-2.0
#include "profile/read_speedscope.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/stack_collector.h"

namespace bobbin::profile {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "https://www.speedscope.app/file-format-schema.json";
constexpr int kMaxDepth = 6;                     // file, profiles, profile, samples, sample
constexpr std::size_t kMaxStackFrames = 4096;    // of events that open and do not close
constexpr std::size_t kMaxFrames = 64ULL << 20;  // of all stacks; 256 MiB
constexpr double kLargestValue = 9e18;

// Nanoseconds of a unit of time; 0: it is none.
double scale_of(std::string_view unit) {
    if (unit == "nanoseconds") return 1;
    if (unit == "microseconds") return 1e3;
    if (unit == "milliseconds") return 1e6;
    return unit == "seconds" ? 1e9 : 0;
}

const json& member(const json& object, const char* name) {
    static const json kNothing;
    if (!object.is_object()) return kNothing;
    const auto found = object.find(name);
    return found == object.end() ? kNothing : *found;
}
std::string text_of(const json& object, const char* name) {
    const json& value = member(object, name);
    return value.is_string() ? value.get<std::string>() : std::string();
}
double number_of(const json& value) { return value.is_number() ? value.get<double>() : 0; }

class SpeedscopeReader {
public:
    Result<symbolize::NamedProfile> read(const json& file) {
        BOBBIN_CHECK(add_frames(member(member(file, "shared"), "frames")));
        const json& profiles = member(file, "profiles");
        if (!profiles.is_array() || profiles.empty()) return fail("speedscope: no profiles");
        unit_ = text_of(profiles.front(), "unit");
        for (const json& profile : profiles) {
            if (text_of(profile, "unit") != unit_) {
                return fail("speedscope: profiles of different units, {} and {}", unit_,
                            text_of(profile, "unit"));
            }
            BOBBIN_CHECK(add_profile(profile));
        }
        symbolize::NamedProfile result = collector_.take();
        if (scale_of(unit_) == 0) {
            result.value_type =
                unit_ == "bytes" ? symbolize::ValueType{"space", "bytes"} : result.count_type;
        }
        if (const std::string name = text_of(file, "name"); !name.empty()) {
            result.comments.push_back(name);
        }
        return result;
    }

private:
    Result<> add_frames(const json& frames) {
        if (!frames.is_array()) return fail("speedscope: no list of frames");
        for (const json& frame : frames) {
            const std::string name = text_of(frame, "name");
            const std::string file = text_of(frame, "file");
            const double line = number_of(member(frame, "line"));
            symbolize::Location location{.mapping = collector_.mapping(""),
                                         .is_named = true,
                                         .is_kernel = file.starts_with("[kernel")};
            const bool fits = line > 0 && line < 4e9;
            location.lines = {
                {collector_.function(name, file), fits ? static_cast<std::uint32_t>(line) : 0}};
            locations_.push_back(collector_.location(location));
        }
        return {};
    }

    Result<> add_profile(const json& profile) {
        labels_.comm = text_of(profile, "name");
        const std::string type = text_of(profile, "type");
        if (type == "sampled") return add_samples(profile);
        if (type == "evented") return add_events(profile);
        return fail("speedscope: profile {} is neither sampled nor evented", labels_.comm);
    }

    Result<> add_samples(const json& profile) {
        const json& samples = member(profile, "samples");
        const json& weights = member(profile, "weights");
        if (!samples.is_array() || !weights.is_array() || samples.size() != weights.size()) {
            return fail("speedscope: profile {} has not one weight for each sample", labels_.comm);
        }
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (!samples[i].is_array()) return fail("speedscope: sample {} is no list", i);
            std::vector<std::uint32_t> root_first;
            for (const json& frame : samples[i]) {
                BOBBIN_TRY(const std::uint32_t location, location_of(frame));
                root_first.push_back(location);
            }
            BOBBIN_CHECK(add_stack(root_first, number_of(weights[i])));
        }
        return {};
    }

    // Between two events runs what is open.
    Result<> add_events(const json& profile) {
        const json& events = member(profile, "events");
        if (!events.is_array()) return fail("speedscope: profile {} has no events", labels_.comm);
        std::vector<std::uint32_t> open;
        double last = number_of(member(profile, "startValue"));
        for (const json& event : events) {
            const double now = number_of(member(event, "at"));
            if (now > last && !open.empty()) BOBBIN_CHECK(add_stack(open, now - last));
            last = now;
            BOBBIN_CHECK(open_or_close(event, open));
        }
        return {};
    }

    Result<> open_or_close(const json& event, std::vector<std::uint32_t>& open) const {
        BOBBIN_TRY(const std::uint32_t location, location_of(member(event, "frame")));
        if (text_of(event, "type") == "O") {
            if (open.size() == kMaxStackFrames) {
                return fail("speedscope: more than {} open frames", kMaxStackFrames);
            }
            open.push_back(location);
            return {};
        }
        if (open.empty() || open.back() != location) {
            return fail("speedscope: profile {} closes a frame that is not the last opened",
                        labels_.comm);
        }
        open.pop_back();
        return {};
    }

    Result<std::uint32_t> location_of(const json& frame) const {
        if (!frame.is_number_unsigned() || frame.get<std::uint64_t>() >= locations_.size()) {
            return fail("speedscope: there is no frame {}", frame.is_number() ? frame.dump() : "");
        }
        return locations_[frame.get<std::size_t>()];
    }

    Result<> add_stack(const std::vector<std::uint32_t>& root_first, double weight) {
        frame_count_ += root_first.size();
        if (frame_count_ > kMaxFrames) return fail("speedscope: more than {} frames", kMaxFrames);
        const std::vector<std::uint32_t> locations(root_first.rbegin(), root_first.rend());
        symbolize::NamedStack& stack = collector_.at(collector_.stack(locations, labels_));
        const double scale = scale_of(unit_);
        const double value = std::round(weight * (scale == 0 ? 1 : scale));
        const auto whole =
            value > 0 && value < kLargestValue ? static_cast<std::uint64_t>(value) : 0;
        stack.value += whole;
        stack.count += scale == 0 && unit_ != "bytes" ? whole : 1;
        return {};
    }

    StackCollector collector_;
    std::vector<std::uint32_t> locations_;  // of the file's frames
    symbolize::SampleLabels labels_;
    std::string unit_;
    std::size_t frame_count_ = 0;
};

}  // namespace

Result<symbolize::NamedProfile> read_speedscope(std::string_view bytes) {
    if (bytes.size() > kMaxSpeedscopeBytes) {
        return fail("speedscope: more than {} bytes", kMaxSpeedscopeBytes);
    }
    const auto not_too_deep = [](int depth, json::parse_event_t, json&) {
        return depth <= kMaxDepth;
    };
    const json file = json::parse(bytes, not_too_deep, false);
    if (file.is_discarded()) return fail("JSON, but not well-formed");
    if (text_of(file, "$schema") != kSchema) {
        return fail("JSON, but not speedscope's: its $schema is not {}", kSchema);
    }
    return SpeedscopeReader().read(file);
}

}  // namespace bobbin::profile

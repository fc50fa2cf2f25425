// SPDX-License-Identifier: Apache-2.0
#include "profile/read_pprof.h"

#include <fmt/core.h>
#include <google/protobuf/arena.h>
#include <profile.pb.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/base_name.h"
#include "profile/gzip.h"
#include "profile/positions_text.h"
#include "profile/walk_end_name.h"

namespace bobbin::profile {
namespace {

namespace pb = perftools::profiles;

constexpr std::chrono::milliseconds kTimeUnit{1};  // of kTimeLabel
constexpr std::int64_t kMaxOffset = std::chrono::nanoseconds::max() / kTimeUnit;

// Labels whose meaning the model knows.
enum class Known { kOther, kPid, kTid, kCpu, kComm, kThread, kCgroup, kUnit, kContainer };
Known known_label(std::string_view key) {
    static const std::unordered_map<std::string_view, Known> kKnown = {
        {"pid", Known::kPid},       {"tid", Known::kTid},
        {"cpu", Known::kCpu},       {"comm", Known::kComm},
        {"thread", Known::kThread}, {"cgroup", Known::kCgroup},
        {"unit", Known::kUnit},     {"container", Known::kContainer},
    };
    const auto found = kKnown.find(key);
    return found == kKnown.end() ? Known::kOther : found->second;
}

class PprofReader {
public:
    PprofReader(const pb::Profile& message, symbolize::NamedProfile& profile)
        : message_(message), profile_(profile) {}

    Result<> read(std::string_view value_name) {
        BOBBIN_CHECK(read_head());
        BOBBIN_CHECK(choose_values(value_name));
        BOBBIN_CHECK(add_tables());
        BOBBIN_CHECK(add_all(message_.sample()));
        set_times();
        return {};
    }

private:
    using Index = std::unordered_map<std::uint64_t, std::uint32_t>;  // by the file's id

    Result<const std::string*> text(std::int64_t index) const {
        if (index < 0 || index >= message_.string_table_size()) {
            return fail("pprof: string {} of {}", index, message_.string_table_size());
        }
        return &message_.string_table(static_cast<int>(index));
    }

    static Result<std::uint32_t> index_of(const Index& index, std::uint64_t id,
                                          std::string_view kind) {
        const auto found = index.find(id);
        if (found == index.end()) return fail("pprof: there is no {} {}", kind, id);
        return found->second;
    }

    template <class Messages>
    Result<> add_all(const Messages& messages) {
        for (const auto& message : messages) BOBBIN_CHECK(add(message));
        return {};
    }

    Result<> add_tables() {
        BOBBIN_CHECK(add_all(message_.mapping()));
        BOBBIN_CHECK(add_all(message_.function()));
        return add_all(message_.location());
    }

    Result<> read_head() {
        // Readers of the format demand it: an index of 0 means "none".
        if (message_.string_table_size() != 0 && !message_.string_table(0).empty()) {
            return fail("pprof: string 0 is not empty");
        }
        for (const std::int64_t comment : message_.comment()) {
            BOBBIN_TRY(const std::string* const line, text(comment));
            profile_.comments.push_back(*line);
        }
        profile_.period = std::chrono::nanoseconds{std::max<std::int64_t>(0, message_.period())};
        profile_.duration =
            std::chrono::nanoseconds{std::max<std::int64_t>(0, message_.duration_nanos())};
        profile_.started = std::chrono::system_clock::time_point{
            std::chrono::duration_cast<std::chrono::system_clock::duration>(
                std::chrono::nanoseconds{message_.time_nanos()})};
        return {};
    }

    Result<symbolize::ValueType> type_at(int index) const {
        const pb::ValueType& type = message_.sample_type(index);
        BOBBIN_TRY(const std::string* const name, text(type.type()));
        BOBBIN_TRY(const std::string* const unit, text(type.unit()));
        return symbolize::ValueType{*name, *unit};
    }

    Result<> choose_values(std::string_view value_name) {
        const int count = message_.sample_type_size();
        if (count == 0) return fail("pprof: no sample type");
        BOBBIN_TRY(const std::string* const by_default, text(message_.default_sample_type()));
        const std::string_view wanted = value_name.empty() ? *by_default : value_name;
        value_index_ = value_name.empty() ? count - 1 : -1;
        count_index_ = -1;
        std::string names;
        for (int i = 0; i < count; ++i) {
            BOBBIN_TRY(const symbolize::ValueType type, type_at(i));
            if (!wanted.empty() && type.name == wanted) value_index_ = i;
            if (type.unit == "count" && count_index_ < 0) count_index_ = i;
            names.append(" ").append(type.name);
        }
        if (value_index_ < 0)
            return fail("pprof: no values are called {}; there are:{}", wanted, names);
        if (count_index_ < 0) count_index_ = value_index_;
        BOBBIN_TRY(profile_.value_type, type_at(value_index_));
        BOBBIN_TRY(profile_.count_type, type_at(count_index_));
        return {};
    }

    Result<> add(const pb::Mapping& in) {
        mappings_.emplace(in.id(), static_cast<std::uint32_t>(profile_.mappings.size()));
        BOBBIN_TRY(const std::string* const file, text(in.filename()));
        BOBBIN_TRY(const std::string* const build_id, text(in.build_id()));
        profile_.mappings.push_back({.start_file_vaddr = in.memory_start(),
                                     .end_file_vaddr = in.memory_limit(),
                                     .file_offset = in.file_offset(),
                                     .file = *file,
                                     .build_id = *build_id,
                                     .has_functions = in.has_functions(),
                                     .has_filenames = in.has_filenames(),
                                     .has_line_numbers = in.has_line_numbers(),
                                     .has_inline_frames = in.has_inline_frames()});
        return {};
    }

    Result<> add(const pb::Function& in) {
        functions_.emplace(in.id(), static_cast<std::uint32_t>(profile_.functions.size()));
        BOBBIN_TRY(const std::string* const name, text(in.name()));
        BOBBIN_TRY(const std::string* const system_name, text(in.system_name()));
        BOBBIN_TRY(const std::string* const file, text(in.filename()));
        profile_.functions.push_back({name->empty() ? *system_name : *name, *system_name, *file});
        return {};
    }

    // Programs that name what they sample leave mappings out.
    std::uint32_t mapping_without_name() {
        if (!no_mapping_) {
            no_mapping_ = static_cast<std::uint32_t>(profile_.mappings.size());
            profile_.mappings.emplace_back().has_functions = true;
        }
        return *no_mapping_;
    }

    Result<> add(const pb::Location& in) {
        symbolize::Location location{.address = in.address(),
                                     .is_kernel = in.address() >= symbolize::kFirstKernelAddress};
        if (in.mapping_id() == 0) {
            location.mapping = mapping_without_name();
        } else {
            BOBBIN_TRY(location.mapping, index_of(mappings_, in.mapping_id(), "mapping"));
        }
        for (const pb::Line& line : in.line()) {
            BOBBIN_TRY(const std::uint32_t function,
                       index_of(functions_, line.function_id(), "function"));
            const bool fits =
                line.line() > 0 && line.line() <= std::numeric_limits<std::uint32_t>::max();
            location.lines.push_back(
                {function, fits ? static_cast<std::uint32_t>(line.line()) : 0});
        }
        set_name(location);
        locations_.emplace(in.id(), static_cast<std::uint32_t>(profile_.locations.size()));
        profile_.locations.push_back(std::move(location));
        return {};
    }

    void set_name(symbolize::Location& location) {
        const std::string_view module = base_name(profile_.mappings[location.mapping].file);
        if (location.lines.empty()) {
            const auto function = static_cast<std::uint32_t>(profile_.functions.size());
            const std::string name =
                fmt::format("{}+{:#x}", module.empty() ? "[unknown]" : module, location.address);
            profile_.functions.push_back({name, name, {}});
            location.lines.push_back({function, 0});
            return;
        }
        const std::string_view name = profile_.functions[location.lines.front().function].name;
        location.is_named = module.empty() || !name.starts_with(module) ||
                            !name.substr(module.size()).starts_with("+0x");
    }

    Result<> add(const pb::Sample& in) {
        if (in.value_size() != message_.sample_type_size()) {
            return fail("pprof: a sample has {} values, the file {}", in.value_size(),
                        message_.sample_type_size());
        }
        symbolize::NamedStack stack;
        for (const std::uint64_t id : in.location_id()) {
            BOBBIN_TRY(const std::uint32_t location, index_of(locations_, id, "location"));
            stack.locations.push_back(location);
        }
        // A difference of two profiles has values below zero; there is no such stack.
        stack.count = static_cast<std::uint64_t>(std::max<std::int64_t>(0, in.value(count_index_)));
        stack.value = static_cast<std::uint64_t>(std::max<std::int64_t>(0, in.value(value_index_)));
        std::optional<std::int64_t> time;
        for (const pb::Label& label : in.label()) BOBBIN_CHECK(add(label, stack, time));
        profile_.sample_count += stack.count;
        profile_.by_walk_end.at(stack.walk_end) += stack.count;
        offsets_.push_back(time);
        profile_.stacks.push_back(std::move(stack));
        return {};
    }

    Result<> add(const pb::Label& in, symbolize::NamedStack& stack,
                 std::optional<std::int64_t>& time) {
        BOBBIN_TRY(const std::string* const key, text(in.key()));
        BOBBIN_TRY(const std::string* const value, text(in.str()));
        if (*key == kWalkEndLabel) {
            if (const auto end = walk_end_named(*value)) stack.walk_end = *end;
        } else if (*key == kByFramePointerLabel) {
            stack.by_frame_pointer = read_positions(*value, stack.locations.size());
        } else if (*key == kTimeLabel) {
            time = std::clamp<std::int64_t>(in.num(), 0, kMaxOffset);
        } else {
            set_label(stack.labels, *key, *value, in.num());
        }
        return {};
    }

    static void set_label(symbolize::SampleLabels& labels, const std::string& key,
                          const std::string& text, std::int64_t number) {
        const auto small = static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(number, 0, std::numeric_limits<std::uint32_t>::max()));
        switch (known_label(key)) {
            case Known::kPid:
                labels.pid = small;
                return;
            case Known::kTid:
                labels.tid = small;
                return;
            case Known::kCpu:
                labels.cpu = small;
                return;
            case Known::kComm:
                labels.comm = text;
                return;
            case Known::kThread:
                labels.thread = text;
                return;
            case Known::kCgroup:
                labels.cgroup = text;
                return;
            case Known::kUnit:
                labels.unit = text;
                return;
            case Known::kContainer:
                labels.container = text;
                return;
            case Known::kOther:
                break;
        }
        labels.others.emplace_back(key, text.empty() ? std::to_string(number) : text);
    }

    // The span that all offsets are multiples of.
    void set_times() {
        std::int64_t span = 0;
        for (const auto& offset : offsets_) span = std::gcd(span, offset.value_or(0));
        const bool all_known =
            !offsets_.empty() &&
            std::ranges::all_of(offsets_, [](const auto& offset) { return offset.has_value(); });
        if (!all_known) return;
        if (span == 0) span = std::max<std::int64_t>(1, profile_.duration / kTimeUnit);
        profile_.time_bucket = span * kTimeUnit;
        for (std::size_t i = 0; i < offsets_.size(); ++i) {
            const auto bucket = static_cast<std::uint32_t>(std::min<std::int64_t>(
                *offsets_[i] / span, std::numeric_limits<std::uint32_t>::max()));
            profile_.stacks[i].times = {
                {bucket, static_cast<std::uint32_t>(profile_.stacks[i].count)}};
        }
    }

    const pb::Profile& message_;
    symbolize::NamedProfile& profile_;
    int value_index_ = 0;
    int count_index_ = 0;
    Index mappings_;
    Index functions_;
    Index locations_;
    std::optional<std::uint32_t> no_mapping_;
    std::vector<std::optional<std::int64_t>> offsets_;  // of each stack, in units of kTimeUnit
};

}  // namespace

Result<symbolize::NamedProfile> read_pprof(std::string_view bytes, std::string_view value_name) {
    std::string text;
    if (is_gzip(bytes)) {
        BOBBIN_TRY(text, gunzip(bytes, kMaxProfileBytes));
        bytes = text;
    }
    if (bytes.size() > kMaxProfileBytes) return fail("pprof: more than {} bytes", kMaxProfileBytes);
    google::protobuf::Arena arena;
    auto& message = *google::protobuf::Arena::CreateMessage<pb::Profile>(&arena);
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return fail("not a pprof profile");
    }
    symbolize::NamedProfile profile;
    BOBBIN_CHECK(PprofReader(message, profile).read(value_name));
    return profile;
}

}  // namespace bobbin::profile

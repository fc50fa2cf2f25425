// SPDX-License-Identifier: Apache-2.0
#include "profile/firefox_thread.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <ranges>
#include <utility>

#include "base/base_name.h"

namespace bobbin::profile {
namespace {

using nlohmann::json;

constexpr std::int64_t kNone = -1;  // of an address or a resource
constexpr std::uint32_t kLibraryResource = 1;
// The largest number that JSON's readers keep exact.
constexpr std::uint64_t kLargestExact = (std::uint64_t{1} << 53) - 1;

double to_milliseconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

json column_of(std::size_t length, const json& value) {
    json column = json::array();
    for (std::size_t i = 0; i < length; ++i) column.push_back(value);
    return column;
}

json no_markers() {
    json markers{{"length", 0}};
    for (const char* column : {"category", "data", "endTime", "name", "phase", "startTime"}) {
        markers[column] = json::array();
    }
    return markers;
}

// What a sample weighs: `weightType` of the format and the number.
enum class Weight { kSamples, kMilliseconds, kBytes };

Weight weight_of(const symbolize::ValueType& type) {
    if (type.unit == "bytes") return Weight::kBytes;
    // CPU time is shown as samples; time of another kind, such as waiting, as itself.
    if (type.unit == "nanoseconds" && type.name != "cpu") return Weight::kMilliseconds;
    return Weight::kSamples;
}

}  // namespace

json FirefoxThread::encode() {
    json samples = encode_samples();
    json thread{{"name", thread_.thread},
                {"processName", thread_.process},
                {"processType", "default"},
                {"pid", std::to_string(thread_.pid)},
                {"tid", thread_.tid},
                {"isMainThread", thread_.pid == thread_.tid},
                {"processStartupTime", 0},
                {"processShutdownTime", nullptr},
                {"registerTime", 0},
                {"unregisterTime", nullptr},
                {"pausedRanges", json::array()},
                {"markers", no_markers()},
                {"samples", std::move(samples)},
                {"stackTable", encode_stacks()},
                {"frameTable", encode_frames()},
                {"funcTable", encode_functions()},
                {"resourceTable", encode_resources()}};
    // Addresses are resolved already; the table is for readers that would do it.
    thread["nativeSymbols"] = {{"length", 0},
                               {"address", json::array()},
                               {"functionSize", json::array()},
                               {"libIndex", json::array()},
                               {"name", json::array()}};
    thread["stringArray"] = strings_.take();
    return thread;
}

json FirefoxThread::encode_samples() {
    const Weight weight = weight_of(profile_.value_type);
    const bool is_cpu_time = profile_.value_type == symbolize::ValueType{};
    json stacks = json::array();
    json times = json::array();
    json weights = json::array();
    json cpu_times = json::array();
    // A stack comes once for each span of time that it was met in.
    std::unordered_map<const symbolize::NamedStack*, std::optional<std::uint32_t>> index_by_stack;
    for (const TimedSamples& part : thread_.samples) {
        const auto [found, is_new] = index_by_stack.try_emplace(part.stack);
        if (is_new) found->second = stack_index(*part.stack);
        const std::optional<std::uint32_t> stack = found->second;
        stacks.push_back(stack ? json(*stack) : json());
        times.push_back(to_milliseconds(part.end));
        if (weight == Weight::kMilliseconds) {
            weights.push_back(static_cast<double>(part.value) / 1e6);
        } else {
            weights.push_back(weight == Weight::kBytes ? part.value : part.count);
        }
        cpu_times.push_back(part.value);
    }
    const std::array types{"samples", "tracing-ms", "bytes"};
    json samples{{"length", thread_.samples.size()},
                 {"stack", std::move(stacks)},
                 {"time", std::move(times)},
                 {"weight", std::move(weights)},
                 {"weightType", types.at(static_cast<std::size_t>(weight))}};
    if (is_cpu_time) samples["threadCPUDelta"] = std::move(cpu_times);
    return samples;
}

std::optional<std::uint32_t> FirefoxThread::stack_index(const symbolize::NamedStack& stack) {
    std::int64_t index = kNone;
    for (const std::uint32_t location : std::views::reverse(stack.locations)) {
        for (std::size_t i = profile_.locations[location].lines.size(); i-- > 0;) {
            index = stack_index(index, frame_index(location, static_cast<std::uint32_t>(i)));
        }
    }
    if (index == kNone) return std::nullopt;
    return static_cast<std::uint32_t>(index);
}

std::uint32_t FirefoxThread::stack_index(std::int64_t prefix, std::uint32_t frame) {
    const std::uint64_t key = static_cast<std::uint64_t>(prefix + 1) << 32 | frame;
    const auto [found, is_new] =
        stack_by_key_.try_emplace(key, static_cast<std::uint32_t>(stack_frames_.size()));
    if (is_new) {
        stack_prefixes_.push_back(prefix);
        stack_frames_.push_back(frame);
    }
    return found->second;
}

std::uint32_t FirefoxThread::frame_index(std::uint32_t location, std::uint32_t line) {
    const auto [found, is_new] = frame_by_key_.try_emplace(
        FrameKey{location, line}, static_cast<std::uint32_t>(frames_.size()));
    if (is_new) {
        const symbolize::Location& place = profile_.locations[location];
        frames_.emplace_back(location, line);
        frame_functions_.push_back(function_index(place.lines[line].function, place.mapping));
    }
    return found->second;
}

std::uint32_t FirefoxThread::function_index(std::uint32_t function, std::uint32_t mapping) {
    const symbolize::Function& named = profile_.functions[function];
    const FunctionKey key{text(named.name), resource_index(mapping),
                          named.file.empty() ? kNone : text(named.file)};
    const auto [found, is_new] =
        function_by_key_.try_emplace(key, static_cast<std::uint32_t>(functions_.size()));
    if (is_new) functions_.push_back(key);
    return found->second;
}

std::int64_t FirefoxThread::resource_index(std::uint32_t mapping) {
    if (mapping >= profile_.mappings.size() || profile_.mappings[mapping].file.empty()) {
        return kNone;
    }
    const auto [found, is_new] = resource_by_mapping_.try_emplace(
        mapping, static_cast<std::int64_t>(resource_mappings_.size()));
    if (is_new) resource_mappings_.push_back(mapping);
    return found->second;
}

// Those of the kernel are counted from its first.
std::int64_t FirefoxThread::address_of(const symbolize::Location& location) const {
    std::uint64_t address = location.address;
    if (location.is_kernel && location.mapping < profile_.mappings.size()) {
        const std::uint64_t start = profile_.mappings[location.mapping].start_file_vaddr;
        if (address >= start) address -= start;
    }
    return address <= kLargestExact ? static_cast<std::int64_t>(address) : kNone;
}

json FirefoxThread::encode_frames() {
    const std::size_t length = frames_.size();
    json addresses = json::array();
    json depths = json::array();
    json categories = json::array();
    json lines = json::array();
    for (const auto& [location_index, line_index] : frames_) {
        const symbolize::Location& location = profile_.locations[location_index];
        const std::uint32_t line = location.lines[line_index].line;
        addresses.push_back(address_of(location));
        // 0 is the function that the others were inlined into.
        depths.push_back(location.lines.size() - 1 - line_index);
        categories.push_back(location.is_kernel ? kFirefoxKernel : kFirefoxUser);
        lines.push_back(line == 0 ? json() : json(line));
    }
    return {{"length", length},
            {"address", std::move(addresses)},
            {"inlineDepth", std::move(depths)},
            {"category", std::move(categories)},
            {"subcategory", column_of(length, 0)},
            {"func", frame_functions_},
            {"nativeSymbol", column_of(length, nullptr)},
            {"innerWindowID", column_of(length, 0)},
            {"line", std::move(lines)},
            {"column", column_of(length, nullptr)}};
}

json FirefoxThread::encode_functions() {
    const std::size_t length = functions_.size();
    json names = json::array();
    json resources = json::array();
    json files = json::array();
    for (const auto& [name, resource, file] : functions_) {
        names.push_back(name);
        resources.push_back(resource);
        files.push_back(file == kNone ? json() : json(file));
    }
    return {{"length", length},
            {"name", std::move(names)},
            {"isJS", column_of(length, false)},
            {"relevantForJS", column_of(length, false)},
            {"resource", std::move(resources)},
            {"fileName", std::move(files)},
            {"lineNumber", column_of(length, nullptr)},
            {"columnNumber", column_of(length, nullptr)}};
}

json FirefoxThread::encode_stacks() {
    json prefixes = json::array();
    for (const std::int64_t prefix : stack_prefixes_) {
        prefixes.push_back(prefix == kNone ? json() : json(prefix));
    }
    return {{"length", stack_frames_.size()},
            {"prefix", std::move(prefixes)},
            {"frame", stack_frames_}};
}

json FirefoxThread::encode_resources() {
    const std::size_t length = resource_mappings_.size();
    json names = json::array();
    for (const std::uint32_t mapping : resource_mappings_) {
        names.push_back(text(base_name(profile_.mappings[mapping].file)));
    }
    return {{"length", length},
            {"lib", resource_mappings_},
            {"name", std::move(names)},
            {"host", column_of(length, nullptr)},
            {"type", column_of(length, kLibraryResource)}};
}

}  // namespace bobbin::profile

// SPDX-License-Identifier: Apache-2.0
#include "symbolize/name_generated.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "symbolize/jitdump.h"
#include "symbolize/perf_map.h"

namespace bobbin::symbolize {
namespace {

using Clock = std::chrono::steady_clock;

// The largest file there may be takes about a second to read.
constexpr std::chrono::seconds kPatience{20};

void name_by_jitdump(int fd, std::span<const std::uint64_t> addresses,
                     std::vector<NamedFrame>& frames) {
    if (auto read = read_jitdump(bytes_of_file(fd), addresses)) frames = std::move(*read);
}

void name_rest_by_perf_map(int fd, std::span<const std::uint64_t> addresses,
                           std::vector<NamedFrame>& frames) {
    const auto is_named = [](const NamedFrame& frame) { return !frame.system_name.empty(); };
    if (std::ranges::all_of(frames, is_named)) return;
    PerfMapNames read = read_perf_map(bytes_of_file(fd), addresses);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (is_named(frames[i])) continue;
        frames[i] = {.system_name = std::move(read.names[i]), .file = {}, .line = 0, .module = {}};
    }
}

std::vector<NamedFrame> read_names(const CodeMaps& maps, std::span<const std::uint64_t> addresses) {
    std::vector<NamedFrame> frames(addresses.size());
    if (maps.jitdump) name_by_jitdump(maps.jitdump->get(), addresses, frames);
    if (maps.perf_map) name_rest_by_perf_map(maps.perf_map->get(), addresses, frames);
    return frames;
}

// A thread that waits for a file system cannot be woken, only left behind; it owns what it uses.
std::vector<NamedFrame> read_names_until(Clock::time_point deadline, const CodeMaps& maps,
                                         const std::vector<std::uint64_t>& addresses) {
    if (!maps.has_any() || Clock::now() >= deadline) {
        return std::vector<NamedFrame>(addresses.size());
    }
    std::packaged_task<std::vector<NamedFrame>()> reading(
        [maps, addresses] { return read_names(maps, addresses); });
    auto names = reading.get_future();
    std::thread(std::move(reading)).detach();
    if (names.wait_until(deadline) != std::future_status::ready) {
        return std::vector<NamedFrame>(addresses.size());
    }
    return names.get();
}

class MappingsOfGeneratedCode {
public:
    explicit MappingsOfGeneratedCode(ProfileTables& tables) : tables_(tables) {}

    std::uint32_t of_named() {
        if (!named_) named_ = add("[jit]");
        return *named_;
    }
    std::uint32_t of_unnamed() {
        if (!unnamed_) unnamed_ = add("[anon]");
        return *unnamed_;
    }
    // Its code has nothing to do with that of the process before.
    void begin_process() { named_.reset(); }

private:
    std::uint32_t add(std::string name) {
        Mapping mapping;
        mapping.file = std::move(name);
        return tables_.add_mapping(std::move(mapping));
    }

    ProfileTables& tables_;
    std::optional<std::uint32_t> named_;
    std::optional<std::uint32_t> unnamed_;
};

std::vector<std::uint64_t> addresses_of(std::span<const GeneratedPlace> places) {
    std::vector<std::uint64_t> addresses;
    addresses.reserve(places.size());
    for (const GeneratedPlace& place : places) addresses.push_back(place.vaddr);
    return addresses;
}

}  // namespace

void name_generated_locations(std::span<const GeneratedPlace> places, std::uint32_t first_location,
                              const CodeMapsOf& code_maps_of, ProfileTables& tables) {
    const auto deadline = Clock::now() + kPatience;
    MappingsOfGeneratedCode mappings(tables);
    while (!places.empty()) {
        const ProcessId process = places.front().process;
        const auto end = std::ranges::find_if(
            places, [&](const GeneratedPlace& place) { return place.process != process; });
        const auto of_process = places.first(static_cast<std::size_t>(end - places.begin()));
        const CodeMaps maps = process == ProcessId{} ? CodeMaps{} : code_maps_of(process);
        const auto frames = read_names_until(deadline, maps, addresses_of(of_process));
        mappings.begin_process();
        for (std::size_t i = 0; i < of_process.size(); ++i, ++first_location) {
            const bool is_named = !frames[i].system_name.empty();
            tables.set_location(first_location,
                                is_named ? mappings.of_named() : mappings.of_unnamed(),
                                of_process[i].vaddr, std::span(&frames[i], is_named ? 1 : 0));
        }
        places = places.subspan(of_process.size());
    }
}

}  // namespace bobbin::symbolize

// SPDX-License-Identifier: Apache-2.0
#include "symbolize/name_generated.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "symbolize/jitdump.h"
#include "symbolize/perf_map.h"

namespace bobbin::symbolize {
namespace {

bool is_named(const NamedFrame& frame) { return !frame.system_name.empty(); }

std::vector<NamedFrame> read_files(const CodeMaps& maps, std::span<const std::uint64_t> addresses,
                                   const ReadCodeMap& read) {
    std::vector<NamedFrame> frames;
    if (maps.jitdump) frames = read(maps.jitdump->get(), CodeMapKind::kJitdump, addresses);
    frames.resize(addresses.size());
    if (!maps.perf_map || std::ranges::all_of(frames, is_named)) return frames;
    auto others = read(maps.perf_map->get(), CodeMapKind::kPerfMap, addresses);
    others.resize(addresses.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (!is_named(frames[i])) frames[i] = std::move(others[i]);
    }
    return frames;
}

class MappingsOfGeneratedCode {
public:
    explicit MappingsOfGeneratedCode(ProfileTables& tables) : tables_(tables) {}

    std::uint32_t of_named() {
        if (named_ == kNone) named_ = add("[jit]");
        return named_;
    }
    std::uint32_t of_unnamed() {
        if (unnamed_ == kNone) unnamed_ = add("[anon]");
        return unnamed_;
    }
    // Its code has nothing to do with that of the process before.
    void begin_process() { named_ = kNone; }

private:
    std::uint32_t add(std::string name) {
        Mapping mapping;
        mapping.file = std::move(name);
        return tables_.add_mapping(std::move(mapping));
    }

    ProfileTables& tables_;
    // Not an optional: g++ 12 takes it for uninitialized.
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t named_ = kNone;
    std::uint32_t unnamed_ = kNone;
};

std::vector<std::uint64_t> addresses_of(std::span<const GeneratedPlace> places) {
    std::vector<std::uint64_t> addresses;
    addresses.reserve(places.size());
    for (const GeneratedPlace& place : places) addresses.push_back(place.vaddr);
    return addresses;
}

std::vector<NamedFrame> frames_of(const ProcessId& process,
                                  std::span<const std::uint64_t> addresses,
                                  const GeneratedNameSources& sources) {
    const bool has_process = process != ProcessId{};
    const CodeMaps maps =
        has_process && sources.code_maps_of ? sources.code_maps_of(process) : CodeMaps{};
    if (!sources.read) return std::vector<NamedFrame>(addresses.size());
    return read_files(maps, addresses, sources.read);
}

}  // namespace

std::vector<NamedFrame> read_code_map(int fd, CodeMapKind kind,
                                      std::span<const std::uint64_t> addresses) {
    if (kind == CodeMapKind::kJitdump) {
        auto frames = read_jitdump(bytes_of_file(fd), addresses);
        return frames ? std::move(*frames) : std::vector<NamedFrame>();
    }
    std::vector<NamedFrame> frames;
    for (std::string& name : read_perf_map(bytes_of_file(fd), addresses).names) {
        frames.push_back({.system_name = std::move(name), .file = {}, .line = 0, .module = {}});
    }
    return frames;
}

void name_generated_locations(std::span<const GeneratedPlace> places, std::uint32_t first_location,
                              const GeneratedNameSources& sources, ProfileTables& tables) {
    MappingsOfGeneratedCode mappings(tables);
    while (!places.empty()) {
        const ProcessId process = places.front().process;
        const auto end = std::ranges::find_if(
            places, [&](const GeneratedPlace& place) { return place.process != process; });
        const auto of_process = places.first(static_cast<std::size_t>(end - places.begin()));
        const auto frames = frames_of(process, addresses_of(of_process), sources);
        mappings.begin_process();
        for (std::size_t i = 0; i < of_process.size(); ++i, ++first_location) {
            const bool has_name = is_named(frames[i]);
            tables.set_location(first_location,
                                has_name ? mappings.of_named() : mappings.of_unnamed(),
                                of_process[i].vaddr, std::span(&frames[i], has_name ? 1 : 0));
        }
        tables.demangle_new(sources.demangle);
        places = places.subspan(of_process.size());
    }
}

}  // namespace bobbin::symbolize

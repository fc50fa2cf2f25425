// SPDX-License-Identifier: Apache-2.0
#include "symbolize/name_stacks.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "symbolize/distinct_frames.h"
#include "symbolize/kernel_symbolizer.h"
#include "symbolize/name_executable.h"
#include "symbolize/name_generated.h"
#include "symbolize/name_kernel.h"
#include "symbolize/profile_tables.h"

namespace bobbin::symbolize {
namespace {

// Many stacks have one owner, and asking for a container reads files.
class LabelMemory {
public:
    explicit LabelMemory(const OwnerLabels& labels_of) : labels_of_(labels_of) {}

    const SampleLabels& of(const aggregate::SampleOwner& owner) {
        const auto [found, is_new] = labels_by_owner_.try_emplace(&owner);
        if (is_new) {
            SampleLabels& labels = found->second;
            labels.pid = owner.pid;
            labels.tid = owner.tid;
            labels.cpu = owner.cpu;
            labels.comm = owner.process_comm;
            labels.thread = owner.thread_comm;
            if (labels_of_) labels_of_(owner, labels);
        }
        return found->second;
    }

private:
    struct Hash {
        std::size_t operator()(const aggregate::SampleOwner* owner) const {
            const std::uint64_t word = (std::uint64_t{owner->tid} << 32) ^ owner->cpu;
            return std::hash<std::uint64_t>{}(word * 0x9E3779B97F4A7C15ULL);
        }
    };
    struct Equal {
        bool operator()(const aggregate::SampleOwner* a, const aggregate::SampleOwner* b) const {
            return *a == *b;
        }
    };
    const OwnerLabels& labels_of_;
    std::unordered_map<const aggregate::SampleOwner*, SampleLabels, Hash, Equal> labels_by_owner_;
};

// The places of one executable follow each other.
void set_file_locations(const DistinctFrames& frames, const executable::Catalog& catalog,
                        const NameExecutable& name_executable, const DemangleNames& demangle,
                        ProfileTables& tables) {
    std::span<const abi::frame_word> rest = frames.file_places();
    auto location = static_cast<std::uint32_t>(frames.kernel_addresses().size());
    while (!rest.empty()) {
        const std::uint32_t id = executable_id_of(rest.front());
        const auto end = std::find_if(rest.begin(), rest.end(), [&](abi::frame_word frame) {
            return executable_id_of(frame) != id;
        });
        const auto count = static_cast<std::size_t>(end - rest.begin());
        name_executable_locations({id, location, rest.first(count)}, catalog.find(id),
                                  name_executable, tables);
        tables.demangle_new(demangle);
        location += static_cast<std::uint32_t>(count);
        rest = rest.subspan(count);
    }
}

std::vector<std::uint32_t> locations_of(const aggregate::CountedStack& stack,
                                        const DistinctFrames& frames) {
    std::vector<std::uint32_t> locations;
    locations.reserve(stack.kernel_frames.size() + stack.user_frames.size());
    for (const std::uint64_t address : stack.kernel_frames) {
        locations.push_back(frames.number_of_kernel(address));
    }
    for (const abi::frame_word frame : stack.user_frames) {
        locations.push_back(frames.number_of_user(stack.owner, frame));
    }
    return locations;
}

std::vector<std::uint32_t> found_by_frame_pointer(const aggregate::CountedStack& stack) {
    std::vector<std::uint32_t> positions;
    const auto first = static_cast<std::uint32_t>(stack.kernel_frames.size());
    for (std::uint32_t i = 0; i < stack.user_frames.size(); ++i) {
        if ((stack.user_frames[i] & FRAME_BY_FRAME_POINTER) != 0) positions.push_back(first + i);
    }
    return positions;
}

DistinctFrames distinct_frames_of(const aggregate::CountedStacks& counted, bool resolve_names,
                                  const CodeMapsOf& code_maps_of) {
    if (!resolve_names || !code_maps_of) return DistinctFrames(counted, nullptr);
    return DistinctFrames(counted, [&code_maps_of](const ProcessId& process) {
        return code_maps_of(process).has_any();
    });
}

void set_locations(const DistinctFrames& frames, const executable::Catalog& catalog,
                   bool resolve_names, const NameSources& sources, ProfileTables& tables) {
    KernelSymbolizer new_kernel("/proc/kallsyms", sources.kernel);
    KernelSymbolizer* const kernel =
        sources.kernel_symbolizer != nullptr ? sources.kernel_symbolizer : &new_kernel;
    name_kernel_locations(frames.kernel_addresses(), resolve_names ? kernel : nullptr, tables);
    tables.demangle_new(sources.demangle);
    set_file_locations(frames, catalog, resolve_names ? sources.name_executable : nullptr,
                       sources.demangle, tables);
    const std::size_t before = frames.size() - frames.generated_places().size();
    name_generated_locations(frames.generated_places(), static_cast<std::uint32_t>(before),
                             {.code_maps_of = sources.code_maps_of,
                              .read = sources.read_code_map,
                              .demangle = sources.demangle},
                             tables);
}

}  // namespace

NamedProfile name_stacks(const aggregate::CountedStacks& counted,
                         const executable::Catalog& catalog, const OwnerLabels& labels_of,
                         Names names, const NameSources& sources) {
    const bool resolve_names = names == Names::kResolve;
    const DistinctFrames frames = distinct_frames_of(counted, resolve_names, sources.code_maps_of);
    ProfileTables tables(frames.size());
    set_locations(frames, catalog, resolve_names, sources, tables);

    NamedProfile profile;
    tables.move_to(profile);
    for (std::size_t i = 0; i < frames.kernel_addresses().size(); ++i) {
        profile.locations[i].is_kernel = true;
    }
    LabelMemory labels(labels_of);
    profile.stacks.reserve(counted.stacks.size());
    for (const aggregate::CountedStack& stack : counted.stacks) {
        profile.stacks.push_back({.locations = locations_of(stack, frames),
                                  .labels = labels.of(stack.owner),
                                  .by_frame_pointer = found_by_frame_pointer(stack),
                                  .walk_end = stack.walk_end,
                                  .count = stack.count,
                                  .times = stack.times});
    }
    profile.time_bucket = counted.time_bucket;
    profile.sample_count = counted.sample_count;
    profile.by_walk_end = counted.by_walk_end;
    return profile;
}

}  // namespace bobbin::symbolize

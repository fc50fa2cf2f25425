// SPDX-License-Identifier: Apache-2.0
#include "daemon/segment_names.h"

#include <chrono>
#include <span>
#include <string>
#include <utility>

namespace bobbin::daemon {
namespace {

// For names of modules and BPF programs that came since. Reading the list takes 60 ms.
constexpr std::chrono::minutes kKernelSymbolsLastFor{10};

}  // namespace

SegmentNames::SegmentNames(const Sampling& sampling) : sampling_(sampling) { forget(); }

void SegmentNames::forget() {
    remembered_.reset();
    namer_.emplace(patience_with_names());
    symbolize::NameSources sources = sources_of(*namer_, sampling_);
    kernel_.emplace("/proc/kallsyms", sources.kernel);
    kernel_->keep_list_for(kKernelSymbolsLastFor);
    sources.kernel_symbolizer = &*kernel_;
    remembered_.emplace(std::move(sources));
}

void SegmentNames::begin_round(const aggregate::CountedStacks& counted) {
    namer_.emplace(patience_with_names());
    prepare(*namer_, counted, sampling_);
    sampling_.code_maps->look_again(std::chrono::steady_clock::now() + kPatienceWithCodeMaps);
}

NamedStacks SegmentNames::name(const aggregate::CountedStacks& counted) {
    begin_round(counted);
    NamedStacks named{
        .profile = symbolize::name_stacks(counted, *sampling_.catalog, labels_of(sampling_),
                                          symbolize::Names::kResolve, remembered_->sources()),
        .name_losses = symbolize::describe(namer_->losses())};
    if (const std::string& rights = namer_->worker().rights_left(); !rights.empty()) {
        named.name_losses.push_back("read with more rights than needed: " + rights);
    }
    namer_->finish();
    named.worker_cpu_time = namer_->worker().cpu_time();
    return named;
}

void SegmentNames::forget_gone_files() {
    std::set<std::uint32_t> gone;
    for (const auto& executable : sampling_.catalog->all()) {
        const std::uint32_t id = executable->id;
        if (sampling_.unwind_walk->feed().is_current(id)) continue;
        if (gone_.contains(id)) {
            sampling_.catalog->remove(id);
        } else {
            gone.insert(id);
        }
    }
    gone_ = std::move(gone);
}

}  // namespace bobbin::daemon

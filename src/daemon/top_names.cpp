// SPDX-License-Identifier: Apache-2.0
#include "daemon/top_names.h"

#include <time.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "screen/rows.h"

namespace bobbin::daemon {
namespace {

// With the first file. Nothing new is shown meanwhile.
constexpr std::chrono::milliseconds kPatience{2000};
// For names of modules and BPF programs that came since.
constexpr std::chrono::seconds kAgeOfKernelSymbols{60};

std::chrono::nanoseconds cpu_time_of(pid_t pid) {
    clockid_t clock{};
    timespec time{};
    if (pid < 0 || ::clock_getcpuclockid(pid, &clock) != 0) return {};
    if (::clock_gettime(clock, &time) != 0) return {};
    return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

// Code without names is one function a module: a row for each of its addresses says nothing.
void join_unnamed(symbolize::NamedProfile& profile) {
    std::map<std::string_view, std::uint32_t> function_of_module;
    for (symbolize::Location& location : profile.locations) {
        if (location.is_named) continue;
        const std::string& file = profile.mappings[location.mapping].file;
        const auto next = static_cast<std::uint32_t>(profile.functions.size());
        const auto [function, is_new] = function_of_module.try_emplace(file, next);
        if (is_new) {
            const bool has_brackets = file.starts_with('[');
            const std::string name(screen::basename_of(file));
            profile.functions.push_back(
                {.name = has_brackets ? name : "[" + name + "]", .system_name = name, .file = {}});
        }
        location.lines = {{.function = function->second}};
    }
}

}  // namespace

TopNames::TopNames(const Sampling& sampling)
    : sampling_(sampling), namer_(kPatience), remembered_(ask_worker()) {
    kernel_.keep_list_for(kAgeOfKernelSymbols);
}

symbolize::NameSources TopNames::ask_worker() {
    symbolize::NameSources sources = sources_of(namer_, sampling_);
    sources.kernel_symbolizer = &kernel_;
    return sources;
}

symbolize::NamedProfile TopNames::name(const aggregate::CountedStacks& counted) {
    namer_.begin_round();
    auto profile = symbolize::name_stacks(counted, *sampling_.catalog, {},
                                          symbolize::Names::kResolve, remembered_.sources());
    join_unnamed(profile);
    return profile;
}

std::chrono::nanoseconds TopNames::worker_cpu_time() {
    return namer_.worker().cpu_time() + cpu_time_of(namer_.worker().pid());
}

}  // namespace bobbin::daemon

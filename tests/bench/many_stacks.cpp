// SPDX-License-Identifier: Apache-2.0
// many_stacks FILE.html FILE.pb.gz: a profile with 100,000 distinct stacks as a page and as pprof,
// to see what a browser makes of it. Sizes and the time that writing took go to standard output.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <random>
#include <span>
#include <string>

#include "profile/html.h"
#include "profile/pprof.h"
#include "symbolize/named_profile.h"

namespace {

using namespace bobbin;

constexpr std::uint32_t kFunctions = 20'000;
constexpr std::uint32_t kStacks = 100'000;
constexpr std::uint32_t kSpans = 600;  // a minute of 100 ms
constexpr std::uint32_t kCpus = 16;

void add_functions(symbolize::NamedProfile& profile) {
    for (std::uint32_t i = 0; i < kFunctions; ++i) {
        const std::string name = fmt::format("namespace_{}::function_{}", i % 97, i);
        profile.functions.push_back({name, name, fmt::format("/src/part_{}.cpp", i % 331)});
        symbolize::Location location;
        location.mapping = i % 40;
        location.address = i;
        location.lines = {{i, i % 1000}};
        location.is_named = true;
        profile.locations.push_back(location);
    }
    for (std::uint32_t i = 0; i < 40; ++i) {
        symbolize::Mapping mapping;
        mapping.file = fmt::format("/usr/lib/libpart_{}.so.1", i);
        profile.mappings.push_back(mapping);
    }
}

std::uint32_t below(std::mt19937& random, std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
}

// As programs have them: callers near the root are few, and what they call has favourites.
symbolize::NamedStack make_stack(std::mt19937& random) {
    symbolize::NamedStack stack;
    const std::uint32_t depth = 12 + below(random, 30);
    std::uint32_t function = below(random, 8);
    for (std::uint32_t i = 0; i < depth; ++i) {
        stack.locations.push_back(function);
        const std::uint32_t choices = i < 4 ? 3 : 6;
        const std::uint32_t choice = std::min(below(random, choices), below(random, choices));
        function = (function * 31 + choice * 7919 + i + 11) % kFunctions;
    }
    std::reverse(stack.locations.begin(), stack.locations.end());
    stack.labels.cpu = below(random, kCpus);
    stack.labels.pid = 1000 + below(random, 50);
    stack.labels.comm = fmt::format("process_{}", stack.labels.pid % 50);
    stack.labels.thread = fmt::format("thread_{}", below(random, 8));
    stack.count = 1 + below(random, 4);
    stack.value = stack.count * 10'101'010;
    for (std::uint64_t i = 0; i < stack.count; ++i) {
        const auto bucket = below(random, kSpans);
        stack.times.push_back({bucket, 1});
    }
    std::ranges::sort(stack.times, {}, &aggregate::TimeCount::bucket);
    const auto [first, last] = std::ranges::unique(stack.times, {}, &aggregate::TimeCount::bucket);
    stack.times.erase(first, last);
    return stack;
}

symbolize::NamedProfile make_profile() {
    symbolize::NamedProfile profile;
    profile.period = std::chrono::nanoseconds(10'101'010);
    profile.duration = std::chrono::minutes(1);
    profile.time_bucket = std::chrono::milliseconds(100);
    profile.comments = {"100,000 stacks that no program has"};
    add_functions(profile);
    std::mt19937 random(7);
    for (std::uint32_t i = 0; i < kStacks; ++i) profile.stacks.push_back(make_stack(random));
    for (const auto& stack : profile.stacks) profile.sample_count += stack.count;
    return profile;
}

int write(const char* path, const Result<std::string>& bytes, double seconds) {
    if (!bytes) {
        fmt::print("{}: {}\n", path, bytes.error().message());
        return 1;
    }
    std::ofstream(path, std::ios::binary) << *bytes;
    fmt::print("{}: {} bytes, {:.2f} s\n", path, bytes->size(), seconds);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    if (arguments.size() != 3) return 2;
    const symbolize::NamedProfile profile = make_profile();
    const auto start = std::chrono::steady_clock::now();
    const Result<std::string> page = profile::encode_html(profile);
    const auto end = std::chrono::steady_clock::now();
    int status = write(arguments[1], page, std::chrono::duration<double>(end - start).count());
    const Result<std::string> pprof = profile::encode_pprof(profile, profile::Times::kKeep);
    status |= write(arguments[2], pprof,
                    std::chrono::duration<double>(std::chrono::steady_clock::now() - end).count());
    return status;
}

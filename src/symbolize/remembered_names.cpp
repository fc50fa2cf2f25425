// SPDX-License-Identifier: Apache-2.0
#include "symbolize/remembered_names.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace bobbin::symbolize {

NameSources RememberedNames::sources() {
    NameSources remembered = sources_;
    remembered.name_executable = [this](const executable::Executable& executable,
                                        std::span<const std::uint64_t> addresses) {
        return name_executable(executable, addresses);
    };
    remembered.read_code_map = [this](int fd, CodeMapKind kind,
                                      std::span<const std::uint64_t> addresses) {
        return read_code_map(fd, kind, addresses);
    };
    remembered.demangle = [this](std::span<const std::string> system_names) {
        return demangle(system_names);
    };
    return remembered;
}

// Before an Object is referred to: a round may then go over by what is new in it.
void RememberedNames::make_room() {
    if (address_count_ <= kMaxAddresses) return;
    executables_.clear();
    code_maps_.clear();
    address_count_ = 0;
}

void RememberedNames::learn(Object& object, std::span<const std::uint64_t> unknown,
                            const Ask& ask) {
    const Clock::time_point before = now_();
    NamesOfEach names = ask(unknown);
    const Clock::time_point after = now_();
    object.rests_until = after + (after - before) * kRestFactor;
    const std::size_t count = std::min(names.size(), unknown.size());
    if (count < unknown.size())
        object.rests_until = std::max(object.rests_until, after + kRestOfFailed);
    for (std::size_t i = 0; i < count; ++i) object.by_address[unknown[i]] = std::move(names[i]);
    address_count_ += count;
}

NamesOfEach RememberedNames::find(Object& object, std::span<const std::uint64_t> addresses,
                                  const Ask& ask) {
    std::vector<std::uint64_t> unknown;
    for (const std::uint64_t address : addresses) {
        if (!object.by_address.contains(address)) unknown.push_back(address);
    }
    if (!unknown.empty() && now_() >= object.rests_until) learn(object, unknown, ask);
    NamesOfEach names(addresses.size());
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const auto found = object.by_address.find(addresses[i]);
        if (found != object.by_address.end()) names[i] = found->second;
    }
    return names;
}

NamesOfEach RememberedNames::name_executable(const executable::Executable& executable,
                                             std::span<const std::uint64_t> addresses) {
    if (!sources_.name_executable) return {};
    make_room();
    return find(executables_[executable.id], addresses,
                [&](std::span<const std::uint64_t> unknown) {
                    return sources_.name_executable(executable, unknown);
                });
}

void RememberedNames::forget_generated_in_time() {
    const Clock::time_point now = now_();
    if (now - code_maps_begun_ < kGeneratedLifetime) return;
    for (auto& [id, object] : code_maps_) {
        address_count_ -= std::min(address_count_, object.by_address.size());
        object.by_address.clear();
    }
    std::erase_if(code_maps_, [&](const auto& entry) { return entry.second.rests_until < now; });
    code_maps_begun_ = now;
}

std::vector<NamedFrame> RememberedNames::read_code_map(int fd, CodeMapKind kind,
                                                       std::span<const std::uint64_t> addresses) {
    struct stat status{};
    if (!sources_.read_code_map || ::fstat(fd, &status) != 0) return {};
    forget_generated_in_time();
    const CodeMapId id{.device = status.st_dev, .inode = status.st_ino, .kind = kind};
    make_room();
    const NamesOfEach names =
        find(code_maps_[id], addresses, [&](std::span<const std::uint64_t> unknown) {
            NamesOfEach of_each;
            for (NamedFrame& frame : sources_.read_code_map(fd, kind, unknown)) {
                of_each.push_back({std::move(frame)});
            }
            return of_each;
        });
    std::vector<NamedFrame> frames;
    frames.reserve(names.size());
    for (const std::vector<NamedFrame>& of_address : names) {
        frames.push_back(of_address.empty() ? NamedFrame{} : of_address.front());
    }
    return frames;
}

std::vector<std::string> RememberedNames::demangle(std::span<const std::string> system_names) {
    if (!sources_.demangle) return {};
    if (demangled_.size() > kMaxDemangled) demangled_.clear();
    std::vector<std::string> unknown;
    for (const std::string& name : system_names) {
        if (!demangled_.contains(name)) unknown.push_back(name);
    }
    if (!unknown.empty()) {
        std::vector<std::string> names = sources_.demangle(unknown);
        // A name that costs the demangler its life is not tried again.
        if (names.size() != unknown.size()) names = unknown;
        for (std::size_t i = 0; i < unknown.size(); ++i) {
            demangled_[unknown[i]] = std::move(names[i]);
        }
    }
    std::vector<std::string> names;
    names.reserve(system_names.size());
    for (const std::string& name : system_names) names.push_back(demangled_.at(name));
    return names;
}

}  // namespace bobbin::symbolize

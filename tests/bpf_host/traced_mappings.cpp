// SPDX-License-Identifier: Apache-2.0
#include "bpf_host/traced_mappings.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace bobbin::test {

std::vector<TracedMapping> read_mappings(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
    std::vector<TracedMapping> mappings;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        TracedMapping mapping;
        std::string rights;
        char dash = 0;
        words >> std::hex >> mapping.start_vaddr >> dash >> mapping.end_vaddr >> rights >>
            mapping.file_offset >> mapping.device >> std::dec >> mapping.inode >> std::ws;
        std::getline(words, mapping.path);
        mapping.readable = rights.starts_with('r');
        mapping.executable = rights.find('x') != std::string::npos;
        mappings.push_back(std::move(mapping));
    }
    return mappings;
}

const TracedMapping* find_mapping(const std::vector<TracedMapping>& mappings, std::uint64_t vaddr) {
    const auto above = std::ranges::upper_bound(mappings, vaddr, {}, &TracedMapping::start_vaddr);
    if (above == mappings.begin() || !std::prev(above)->holds(vaddr)) return nullptr;
    return &*std::prev(above);
}

std::uint64_t read_start_stack(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    // Fields are counted behind the name, which may hold spaces: field 3 comes next.
    std::istringstream words(text.substr(text.rfind(')') + 1));
    std::string word;
    constexpr int kStartStackField = 28;
    for (int field = 3; field <= kStartStackField; ++field) words >> word;
    return word.empty() ? 0 : std::stoull(word);
}

}  // namespace bobbin::test

// SPDX-License-Identifier: Apache-2.0
#include "profile/table_keys.h"

namespace bobbin::profile {
namespace {

// With its length, so that what stands behind it cannot be taken for a part of it.
void append_text(std::string& key, std::string_view text) {
    append_number(key, text.size());
    key.append(text);
}

}  // namespace

std::string key_of(const symbolize::Mapping& mapping) {
    std::string key;
    append_number(key, mapping.start_file_vaddr);
    append_number(key, mapping.end_file_vaddr);
    append_number(key, mapping.file_offset);
    append_text(key, mapping.file);
    append_text(key, mapping.build_id);
    return key;
}

std::string key_of(const symbolize::Function& function) {
    std::string key;
    append_text(key, function.name);
    append_text(key, function.system_name);
    append_text(key, function.file);
    return key;
}

std::string key_of(const symbolize::Location& location) {
    std::string key;
    append_number(key, location.mapping);
    append_number(key, location.address);
    append_number(key, location.is_named);
    append_number(key, location.is_kernel);
    for (const symbolize::Line& line : location.lines) {
        append_number(key, line.function);
        append_number(key, line.line);
    }
    return key;
}

std::string key_of(const symbolize::SampleLabels& labels) {
    std::string key;
    append_number(key, labels.pid);
    append_number(key, labels.tid);
    append_number(key, labels.cpu);
    append_text(key, labels.comm);
    append_text(key, labels.thread);
    append_text(key, labels.cgroup);
    append_text(key, labels.unit);
    append_text(key, labels.container);
    append_number(key, labels.others.size());
    for (const auto& [name, text] : labels.others) {
        append_text(key, name);
        append_text(key, text);
    }
    return key;
}

}  // namespace bobbin::profile

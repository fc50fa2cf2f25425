// SPDX-License-Identifier: Apache-2.0
#include <otlp_profiles.pb.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "profile/gzip.h"
#include "profile/utf8.h"
#include "push/back_end.h"

namespace bobbin::push {
namespace {

namespace otlp = opentelemetry::proto::profiles::v1development;

// protobuf's sizes and indices.
template <class Number>
int to_int(Number number) {
    return static_cast<int>(number);
}

// A profile's tables, with which stacks of all series are written.
class Dictionary {
public:
    Dictionary(const symbolize::NamedProfile& profile, otlp::ProfilesDictionary& to)
        : profile_(profile), to_(to) {
        to_.add_string_table("");
        to_.add_mapping_table();
        to_.add_location_table();
        to_.add_function_table();
        to_.add_link_table();
        to_.add_attribute_table();
        to_.add_stack_table();
        add_mappings();
        add_functions();
        add_locations();
    }

    int text(std::string_view value) {
        const auto [found, is_new] =
            strings_.try_emplace(profile::to_valid_utf8(value), to_.string_table_size());
        if (found->first.empty()) return 0;
        if (is_new) to_.add_string_table(found->first);
        return found->second;
    }

    int stack(const symbolize::NamedStack& stack) {
        const auto [found, is_new] = stacks_.try_emplace(stack.locations, to_.stack_table_size());
        if (!is_new) return found->second;
        otlp::Stack& added = *to_.add_stack_table();
        // Index 0 is none.
        for (const std::uint32_t location : stack.locations) {
            added.add_location_indices(to_int(location + 1));
        }
        return found->second;
    }

    template <class Owner>
    void add_text(Owner& owner, std::string_view key, std::string_view value) {
        if (value.empty()) return;
        const auto [found, is_new] = texts_.try_emplace({text(key), text(value)}, next());
        if (is_new) add_attribute(key).set_string_value(profile::to_valid_utf8(value));
        owner.add_attribute_indices(found->second);
    }
    template <class Owner>
    void add_number(Owner& owner, std::string_view key, std::uint32_t value) {
        const auto [found, is_new] = numbers_.try_emplace({text(key), value}, next());
        if (is_new) add_attribute(key).set_int_value(value);
        owner.add_attribute_indices(found->second);
    }

private:
    [[nodiscard]] int next() const { return to_.attribute_table_size(); }
    otlp::AnyValue& add_attribute(std::string_view key) {
        otlp::KeyValueAndUnit& attribute = *to_.add_attribute_table();
        attribute.set_key_strindex(text(key));
        return *attribute.mutable_value();
    }

    void add_mappings() {
        for (const symbolize::Mapping& mapping : profile_.mappings) {
            otlp::Mapping& added = *to_.add_mapping_table();
            added.set_memory_start(mapping.start_file_vaddr);
            added.set_memory_limit(mapping.end_file_vaddr);
            added.set_file_offset(mapping.file_offset);
            added.set_filename_strindex(text(mapping.file));
            add_text(added, "process.executable.build_id.gnu", mapping.build_id);
        }
    }
    void add_functions() {
        for (const symbolize::Function& function : profile_.functions) {
            otlp::Function& added = *to_.add_function_table();
            added.set_name_strindex(text(function.name));
            added.set_system_name_strindex(text(function.system_name));
            added.set_filename_strindex(text(function.file));
        }
    }
    void add_locations() {
        for (const symbolize::Location& location : profile_.locations) {
            otlp::Location& added = *to_.add_location_table();
            added.set_mapping_index(to_int(location.mapping + 1));
            added.set_address(location.address);
            for (const symbolize::Line& line : location.lines) {
                otlp::Line& added_line = *added.add_lines();
                added_line.set_function_index(to_int(line.function + 1));
                added_line.set_line(line.line);
            }
            add_text(added, "profile.frame.type", location.is_kernel ? "kernel" : "native");
        }
    }

    const symbolize::NamedProfile& profile_;
    otlp::ProfilesDictionary& to_;
    std::map<std::string, int, std::less<>> strings_{{"", 0}};
    std::map<std::vector<std::uint32_t>, int> stacks_{{{}, 0}};
    std::map<std::pair<int, int>, int> texts_;
    std::map<std::pair<int, std::uint32_t>, int> numbers_;
};

void add_resource(const std::string& service, const Labels& labels, otlp::Resource& resource) {
    const auto add = [&](std::string_view key, std::string_view value) {
        otlp::KeyValue& attribute = *resource.add_attributes();
        attribute.set_key(std::string(key));
        attribute.mutable_value()->set_string_value(profile::to_valid_utf8(value));
    };
    add("service.name", service);
    for (const auto& [name, value] : labels) add(name == "host" ? "host.name" : name, value);
}

void set_head(const symbolize::NamedProfile& profile, Dictionary& dictionary, otlp::Profile& to) {
    using std::chrono::nanoseconds;
    const auto set_type = [&](otlp::ValueType& type) {
        type.set_type_strindex(dictionary.text(profile.value_type.name));
        type.set_unit_strindex(dictionary.text(profile.value_type.unit));
    };
    set_type(*to.mutable_sample_type());
    set_type(*to.mutable_period_type());
    const nanoseconds started = profile.started.time_since_epoch();
    to.set_time_unix_nano(static_cast<std::uint64_t>(started.count()));
    to.set_duration_nano(static_cast<std::uint64_t>(profile.duration.count()));
    to.set_period(profile.period.count());
}

void add_sample(const symbolize::NamedStack& stack, Dictionary& dictionary, otlp::Profile& to) {
    otlp::Sample& sample = *to.add_samples();
    sample.set_stack_index(dictionary.stack(stack));
    sample.add_values(static_cast<std::int64_t>(stack.value));
    dictionary.add_number(sample, "process.pid", stack.labels.pid);
    dictionary.add_number(sample, "thread.id", stack.labels.tid);
    dictionary.add_text(sample, "thread.name", stack.labels.thread);
    dictionary.add_text(sample, "process.executable.name", stack.labels.comm);
}

}  // namespace

Result<std::vector<Request>> otlp_requests(const Target& target,
                                           const symbolize::NamedProfile& profile,
                                           const Labels& labels) {
    otlp::ExportProfilesServiceRequest message;
    Dictionary dictionary(profile, *message.mutable_dictionary());
    std::map<std::string, otlp::Profile*> by_service;
    for (const symbolize::NamedStack& stack : profile.stacks) {
        const std::string service = service_name(stack.labels);
        otlp::Profile*& part = by_service[service];
        if (part == nullptr) {
            otlp::ResourceProfiles& resource = *message.add_resource_profiles();
            add_resource(service, labels, *resource.mutable_resource());
            otlp::ScopeProfiles& scope = *resource.add_scope_profiles();
            scope.mutable_scope()->set_name("bobbin");
            part = scope.add_profiles();
            set_head(profile, dictionary, *part);
        }
        add_sample(stack, dictionary, *part);
    }
    Request request{.url = endpoint(target.url, "/v1development/profiles")};
    request.headers = {"Content-Type: application/x-protobuf", "Content-Encoding: gzip"};
    BOBBIN_TRY(request.body, profile::gzip(message.SerializeAsString()));
    return std::vector<Request>{std::move(request)};
}

}  // namespace bobbin::push

// SPDX-License-Identifier: Apache-2.0
#include "profile/pprof.h"

#include <google/protobuf/arena.h>
#include <profile.pb.h>

#include <chrono>
#include <cstdint>
#include <string_view>

#include "profile/gzip.h"
#include "profile/positions_text.h"
#include "profile/string_table.h"
#include "profile/walk_end_name.h"

namespace bobbin::profile {
namespace {

namespace pb = perftools::profiles;

// Writes one NamedProfile into one message. Ids are index + 1: dense, in table order, never 0.
class PprofEncoder {
public:
    PprofEncoder(const symbolize::NamedProfile& profile, Times times, pb::Profile& message)
        : profile_(profile), times_(times), message_(message) {}

    void encode() {
        add_head();
        for (const symbolize::Mapping& mapping : profile_.mappings) add(mapping);
        for (const symbolize::Function& function : profile_.functions) add(function);
        for (const symbolize::Location& location : profile_.locations) add(location);
        for (const symbolize::NamedStack& stack : profile_.stacks) add(stack);
        for (std::string& text : strings_.take()) *message_.add_string_table() = std::move(text);
    }

private:
    std::int64_t text(std::string_view value) { return strings_.index_of(value); }

    void set_type(pb::ValueType& type, std::string_view name, std::string_view unit) {
        type.set_type(text(name));
        type.set_unit(text(unit));
    }

    void add_head() {
        const symbolize::ValueType& value = profile_.value_type;
        if (profile_.count_type != value) {
            set_type(*message_.add_sample_type(), profile_.count_type.name,
                     profile_.count_type.unit);
        }
        set_type(*message_.add_sample_type(), value.name, value.unit);
        set_type(*message_.mutable_period_type(), value.name, value.unit);
        message_.set_period(profile_.period.count());
        message_.set_time_nanos(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                    profile_.started.time_since_epoch())
                                    .count());
        message_.set_duration_nanos(profile_.duration.count());
        message_.set_default_sample_type(text(value.name));
        for (const std::string& comment : profile_.comments) message_.add_comment(text(comment));
    }

    void add(const symbolize::Mapping& mapping) {
        pb::Mapping& out = *message_.add_mapping();
        out.set_id(static_cast<std::uint64_t>(message_.mapping_size()));
        out.set_memory_start(mapping.start_file_vaddr);
        out.set_memory_limit(mapping.end_file_vaddr);
        out.set_file_offset(mapping.file_offset);
        out.set_filename(text(mapping.file));
        out.set_build_id(text(mapping.build_id));
        out.set_has_functions(mapping.has_functions);
        out.set_has_filenames(mapping.has_filenames);
        out.set_has_line_numbers(mapping.has_line_numbers);
        out.set_has_inline_frames(mapping.has_inline_frames);
    }

    void add(const symbolize::Function& function) {
        pb::Function& out = *message_.add_function();
        out.set_id(static_cast<std::uint64_t>(message_.function_size()));
        out.set_name(text(function.name));
        out.set_system_name(text(function.system_name));
        out.set_filename(text(function.file));
    }

    void add(const symbolize::Location& location) {
        pb::Location& out = *message_.add_location();
        out.set_id(static_cast<std::uint64_t>(message_.location_size()));
        out.set_mapping_id(location.mapping + 1ULL);
        out.set_address(location.address);
        for (const symbolize::Line& line : location.lines) {
            pb::Line& out_line = *out.add_line();
            out_line.set_function_id(line.function + 1ULL);
            out_line.set_line(line.line);
        }
    }

    // With times one sample for each span that the stack was met in.
    void add(const symbolize::NamedStack& stack) {
        if (times_ == Times::kLeaveOut || stack.times.empty()) {
            add_sample(stack, stack.count);
            return;
        }
        for (const aggregate::TimeCount& time : stack.times) {
            pb::Sample& out = add_sample(stack, time.count);
            const auto offset =
                std::chrono::floor<std::chrono::milliseconds>(time.bucket * profile_.time_bucket);
            add_number(out, kTimeLabel, offset.count(), "milliseconds");
        }
    }

    pb::Sample& add_sample(const symbolize::NamedStack& stack, std::uint64_t count) {
        pb::Sample& out = *message_.add_sample();
        for (const std::uint32_t location : stack.locations) out.add_location_id(location + 1ULL);
        if (profile_.count_type != profile_.value_type)
            out.add_value(static_cast<std::int64_t>(count));
        // Values of one stack are alike, so a part of its samples has that part of its value.
        const std::uint64_t value =
            count == stack.count ? stack.value : stack.value / stack.count * count;
        out.add_value(static_cast<std::int64_t>(value));
        add_labels(out, stack.labels);
        if (stack.walk_end != abi::WALK_END_BOTTOM)
            add_text(out, kWalkEndLabel, name_of(stack.walk_end));
        add_text(out, kByFramePointerLabel, positions_text(stack.by_frame_pointer));
        return out;
    }

    void add_labels(pb::Sample& sample, const symbolize::SampleLabels& labels) {
        add_number(sample, "pid", labels.pid, "pid");
        add_number(sample, "tid", labels.tid, "tid");
        add_number(sample, "cpu", labels.cpu, "cpu");
        add_text(sample, "comm", labels.comm);
        add_text(sample, "thread", labels.thread);
        add_text(sample, "cgroup", labels.cgroup);
        add_text(sample, "unit", labels.unit);
        add_text(sample, "container", labels.container);
        for (const auto& [key, value] : labels.others) add_text(sample, key, value);
    }

    // Readers drop a label whose number and unit are both zero, and CPU 0 is a CPU. The unit is the
    // one they assume where none is given: the key.
    void add_number(pb::Sample& sample, std::string_view key, std::int64_t number,
                    std::string_view unit) {
        pb::Label& label = *sample.add_label();
        label.set_key(text(key));
        label.set_num(number);
        label.set_num_unit(text(unit));
    }

    void add_text(pb::Sample& sample, std::string_view key, std::string_view value) {
        if (value.empty()) return;
        pb::Label& label = *sample.add_label();
        label.set_key(text(key));
        label.set_str(text(value));
    }

    const symbolize::NamedProfile& profile_;
    Times times_;
    pb::Profile& message_;
    StringTable strings_;
};

}  // namespace

std::string encode_pprof_uncompressed(const symbolize::NamedProfile& profile, Times times) {
    google::protobuf::Arena arena;
    auto& message = *google::protobuf::Arena::CreateMessage<pb::Profile>(&arena);
    PprofEncoder(profile, times, message).encode();
    return message.SerializeAsString();
}

Result<std::string> encode_pprof(const symbolize::NamedProfile& profile, Times times) {
    const std::string message = encode_pprof_uncompressed(profile, times);
    // Even a profile without samples has its sample types.
    if (message.empty()) return fail("encode profile: larger than protobuf's 2 GiB");
    return gzip(message);
}

}  // namespace bobbin::profile

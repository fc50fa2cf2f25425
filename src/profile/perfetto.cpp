// SPDX-License-Identifier: Apache-2.0
#include "profile/perfetto.h"

#include <fmt/format.h>
#include <perfetto_trace.pb.h>

#include <algorithm>
#include <chrono>
#include <ranges>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/thread_timelines.h"
#include "profile/utf8.h"

namespace bobbin::profile {
namespace {

namespace trace = perfetto::protos;

constexpr std::uint32_t kSequence = 1;
constexpr std::uint64_t kNotesTrack = 1;
constexpr std::uint32_t kRealTimeClock = 1;
constexpr std::uint32_t kBootTimeClock = 6;
// A timestamp of 0 reads as none.
constexpr std::chrono::nanoseconds kTraceStart = std::chrono::seconds{1};

// Texts of one kind, numbered from 1.
class TextIds {
public:
    using Strings = google::protobuf::RepeatedPtrField<trace::InternedString>;
    explicit TextIds(Strings& strings) : strings_(strings) {}

    std::uint64_t id_of(std::string_view text) {
        const auto [found, is_new] = ids_.try_emplace(std::string(text), ids_.size() + 1);
        if (is_new) {
            trace::InternedString& out = *strings_.Add();
            out.set_iid(found->second);
            out.set_str(found->first);
        }
        return found->second;
    }

private:
    Strings& strings_;
    std::unordered_map<std::string, std::uint64_t> ids_;
};

std::string bytes_of_hex(std::string_view digits) {
    const auto value = [](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
    };
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
        bytes += static_cast<char>(value(digits[i]) << 4 | value(digits[i + 1]));
    }
    return bytes;
}

class PerfettoEncoder {
public:
    PerfettoEncoder(const symbolize::NamedProfile& profile, const Timelines& timelines)
        : profile_(profile), timelines_(timelines) {}

    Result<std::string> encode(std::uint64_t max_samples) {
        const std::uint64_t count = count_samples();
        samples_each_ =
            std::max<std::uint64_t>(1, count / max_samples + (count % max_samples == 0 ? 0 : 1));
        add_clocks();
        add_interned();
        add_names();
        add_notes();
        for (const ThreadTimeline& thread : timelines_.threads) add_samples(thread);
        if (too_large_) return fail("encode trace: a packet is larger than protobuf's 2 GiB");
        return std::move(bytes_);
    }

private:
    // A file may say any numbers: those whose sum is too large are as many as can be said.
    [[nodiscard]] std::uint64_t count_samples() const {
        std::uint64_t count = 0;
        for (const ThreadTimeline& thread : timelines_.threads) {
            for (const TimedSamples& samples : thread.samples)
                count += std::min(samples.count, UINT64_MAX - count);
        }
        return count;
    }

    // Traces one behind the other are one trace, so only one packet at a time is a message.
    template <class Fill>
    void add_packet(std::chrono::nanoseconds time, Fill fill) {
        one_.Clear();
        trace::TracePacket& packet = *one_.add_packet();
        packet.set_trusted_packet_sequence_id(kSequence);
        packet.set_timestamp(timestamp(time));
        fill(packet);
        too_large_ = !one_.AppendToString(&bytes_) || too_large_;
    }
    static std::uint64_t timestamp(std::chrono::nanoseconds time) {
        return static_cast<std::uint64_t>((kTraceStart + time).count());
    }

    void add_clocks() {
        const auto started = std::chrono::duration_cast<std::chrono::nanoseconds>(
            profile_.started.time_since_epoch());
        add_packet({}, [&](trace::TracePacket& packet) {
            const auto add = [&](std::uint32_t id, std::int64_t nanoseconds) {
                trace::ClockSnapshot::Clock& clock = *packet.mutable_clock_snapshot()->add_clocks();
                clock.set_clock_id(id);
                clock.set_timestamp(static_cast<std::uint64_t>(nanoseconds));
            };
            add(kBootTimeClock, kTraceStart.count());
            if (started.count() > 0) add(kRealTimeClock, started.count());
        });
    }

    void add_interned() {
        add_packet({}, [&](trace::TracePacket& packet) {
            packet.set_sequence_flags(trace::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
            set_timebase(*packet.mutable_trace_packet_defaults()
                              ->mutable_perf_sample_defaults()
                              ->mutable_timebase());
            trace::InternedData& data = *packet.mutable_interned_data();
            add_mappings(data);
            add_frames(data);
            add_callstacks(data);
        });
    }

    void set_timebase(trace::PerfEvents::Timebase& timebase) const {
        if (profile_.value_type == symbolize::ValueType{}) {
            timebase.set_counter(trace::PerfEvents::SW_CPU_CLOCK);
            timebase.set_period(static_cast<std::uint64_t>(profile_.period.count()));
        } else {
            timebase.set_name(to_valid_utf8(profile_.value_type.name));
        }
    }

    void add_mappings(trace::InternedData& data) const {
        TextIds paths(*data.mutable_mapping_paths());
        TextIds build_ids(*data.mutable_build_ids());
        for (const symbolize::Mapping& mapping : profile_.mappings) {
            trace::Mapping& out = *data.add_mappings();
            out.set_iid(static_cast<std::uint64_t>(data.mappings_size()));
            out.set_start(mapping.start_file_vaddr);
            out.set_end(mapping.end_file_vaddr);
            out.set_exact_offset(mapping.file_offset);
            out.add_path_string_ids(paths.id_of(mapping.file));
            if (!mapping.build_id.empty())
                out.set_build_id(build_ids.id_of(bytes_of_hex(mapping.build_id)));
        }
    }

    void add_frames(trace::InternedData& data) {
        TextIds names(*data.mutable_function_names());
        TextIds sources(*data.mutable_source_paths());
        for (const symbolize::Location& location : profile_.locations) {
            first_frame_ids_.push_back(static_cast<std::uint64_t>(data.frames_size()) + 1);
            for (const symbolize::Line& line : location.lines) {
                trace::Frame& out = *data.add_frames();
                out.set_iid(static_cast<std::uint64_t>(data.frames_size()));
                const symbolize::Function& function = profile_.functions[line.function];
                out.set_function_name_id(names.id_of(function.name));
                if (!function.file.empty()) out.set_source_path_iid(sources.id_of(function.file));
                if (line.line != 0) out.set_line_number(line.line);
                set_place(out, location);
            }
        }
    }
    void set_place(trace::Frame& out, const symbolize::Location& location) const {
        if (location.mapping >= profile_.mappings.size()) return;
        out.set_mapping_id(location.mapping + 1ULL);
        out.set_rel_pc(relative_address(location));
    }
    // Readers hold it in 63 bits; those of the kernel are counted from its first.
    [[nodiscard]] std::uint64_t relative_address(const symbolize::Location& location) const {
        const std::uint64_t start = profile_.mappings[location.mapping].start_file_vaddr;
        const bool is_high = location.is_kernel && location.address >= start;
        return is_high ? location.address - start : location.address;
    }

    void add_callstacks(trace::InternedData& data) const {
        for (const symbolize::NamedStack& stack : profile_.stacks) {
            trace::Callstack& out = *data.add_callstacks();
            out.set_iid(static_cast<std::uint64_t>(data.callstacks_size()));
            for (const std::uint32_t index : std::views::reverse(stack.locations)) {
                for (std::size_t i = profile_.locations[index].lines.size(); i-- > 0;)
                    out.add_frame_ids(first_frame_ids_[index] + i);
            }
        }
    }

    void add_names() {
        add_packet({}, [&](trace::TracePacket& packet) {
            trace::ProcessTree& tree = *packet.mutable_process_tree();
            std::set<std::uint32_t> pids;
            for (const ThreadTimeline& thread : timelines_.threads) {
                if (pids.insert(thread.pid).second) add_process(tree, thread);
                trace::ProcessTree::Thread& out = *tree.add_threads();
                out.set_tid(static_cast<std::int32_t>(thread.tid));
                out.set_tgid(static_cast<std::int32_t>(thread.pid));
                out.set_name(to_valid_utf8(thread.thread));
            }
        });
    }
    static void add_process(trace::ProcessTree& tree, const ThreadTimeline& thread) {
        trace::ProcessTree::Process& process = *tree.add_processes();
        process.set_pid(static_cast<std::int32_t>(thread.pid));
        process.add_cmdline(to_valid_utf8(thread.process));
    }

    void add_notes() {
        std::vector<std::string> notes = profile_.comments;
        if (!timelines_.has_times) notes.emplace_back(kNoTimesText);
        if (samples_each_ > 1) {
            notes.push_back(fmt::format("each sample here stands for {}", samples_each_));
        }
        if (notes.empty()) return;
        add_packet({}, [](trace::TracePacket& packet) {
            trace::TrackDescriptor& track = *packet.mutable_track_descriptor();
            track.set_uuid(kNotesTrack);
            track.set_name("bobbin");
        });
        for (const std::string& note : notes) {
            add_packet({}, [&](trace::TracePacket& packet) {
                trace::TrackEvent& event = *packet.mutable_track_event();
                event.set_type(trace::TrackEvent::TYPE_INSTANT);
                event.set_track_uuid(kNotesTrack);
                event.set_name(to_valid_utf8(note));
            });
        }
    }

    // What is left of a stack's count goes over to the next one's.
    void add_samples(const ThreadTimeline& thread) {
        std::uint64_t left = 0;
        for (const TimedSamples& samples : thread.samples) {
            left += samples.count;
            const std::uint64_t written = left / samples_each_;
            left %= samples_each_;
            for (std::uint64_t i = 1; i <= written; ++i) {
                const double part = static_cast<double>(i) / static_cast<double>(written);
                const auto length = static_cast<double>((samples.end - samples.start).count());
                const std::chrono::nanoseconds offset{static_cast<std::int64_t>(length * part)};
                add_sample(thread, *samples.stack, samples.start + offset);
            }
        }
    }

    void add_sample(const ThreadTimeline& thread, const symbolize::NamedStack& stack,
                    std::chrono::nanoseconds time) {
        const bool in_kernel =
            !stack.locations.empty() && profile_.locations[stack.locations.front()].is_kernel;
        add_packet(time, [&](trace::TracePacket& packet) {
            packet.set_sequence_flags(trace::TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
            trace::PerfSample& sample = *packet.mutable_perf_sample();
            sample.set_cpu(stack.labels.cpu);
            sample.set_pid(thread.pid);
            sample.set_tid(thread.tid);
            sample.set_callstack_iid(static_cast<std::uint64_t>(&stack - profile_.stacks.data()) +
                                     1);
            sample.set_cpu_mode(in_kernel ? trace::Profiling::MODE_KERNEL
                                          : trace::Profiling::MODE_USER);
        });
    }

    const symbolize::NamedProfile& profile_;
    const Timelines& timelines_;
    trace::Trace one_;
    std::string bytes_;
    bool too_large_ = false;
    std::uint64_t samples_each_ = 1;
    std::vector<std::uint64_t> first_frame_ids_;  // of each location
};

}  // namespace

Result<std::string> encode_perfetto(const symbolize::NamedProfile& profile,
                                    std::uint64_t max_samples) {
    const Timelines timelines = lay_out_threads(profile);
    return PerfettoEncoder(profile, timelines).encode(max_samples);
}

}  // namespace bobbin::profile

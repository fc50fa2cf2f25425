// SPDX-License-Identifier: Apache-2.0
#include "cli/record_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

#include "cli/explain.h"
#include "cli/terminal_text.h"
#include "report/explain.h"

namespace bobbin::cli {
namespace {

constexpr std::size_t kMaxModulesShown = 3;
constexpr std::size_t kMaxRefusedShown = 5;

constexpr std::array<std::string_view, abi::TICK_OUTCOME_COUNT> kTickOutcomeTexts{
#define X(enumerator, name, text) text,
    BOBBIN_TICK_OUTCOMES(X)
#undef X
};

double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double share_of(std::chrono::nanoseconds part, std::chrono::nanoseconds whole) {
    return whole.count() <= 0
               ? 0
               : static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", thousands(count), count == 1 ? one : many);
}

std::string line(std::string_view title, std::string_view text) {
    return fmt::format("{:<9}{}", title, text);
}

// The parts with the largest first; equal ones in the order of the list they come from.
template <std::size_t N>
std::vector<std::size_t> largest_first(const std::array<std::uint64_t, N>& counts) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < N; ++i) {
        if (counts.at(i) > 0) order.push_back(i);
    }
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return counts.at(a) > counts.at(b); });
    return order;
}

std::string describe_recorded(const RecordSummary& summary) {
    const std::uint64_t lost = lost_ticks(summary.by_tick_outcome);
    std::string text = fmt::format("{} at {} Hz on {}: {}", short_duration(summary.duration),
                                   summary.frequency_hz, plural(summary.cpu_count, "CPU", "CPUs"),
                                   plural(summary.sample_count, "sample", "samples"));
    text += fmt::format(", {} lost", thousands(lost));
    if (lost > 0)
        text += fmt::format(" ({})", percent(share_of(lost, lost + summary.sample_count)));
    return text + ", " + plural(summary.process_count, "process", "processes");
}

// Where the ticks went when none became a sample.
std::string describe_no_samples(const RecordSummary& summary) {
    std::string reasons;
    for (const std::size_t outcome : largest_first(summary.by_tick_outcome)) {
        if (outcome == abi::TICK_EMITTED) continue;
        if (!reasons.empty()) reasons += " · ";
        reasons +=
            fmt::format("{}: {}", plural(summary.by_tick_outcome.at(outcome), "tick", "ticks"),
                        kTickOutcomeTexts.at(outcome));
    }
    return reasons.empty() ? "no samples: no CPU was interrupted" : "no samples: " + reasons;
}

// What helps the module that has most frames without names; empty: nothing to type.
std::string command_for_names(const RecordSummary& summary) {
    if (summary.unnamed_modules.empty()) return {};
    if (!summary.unnamed_modules.front().run.empty()) return summary.unnamed_modules.front().run;
    for (const output::WrittenFile& file : summary.files) {
        const Result<output::Format> format = output::format_of(file.path);
        const bool is_readable_again = file.path != "-" && printable(file.path) == file.path;
        if (!is_readable_again || !format || *format != output::Format::kPprof) continue;
        return "bobbin explain " + shell_quote(file.path);
    }
    return {};
}

std::string describe_symbols(const RecordSummary& summary) {
    std::string text = percent(share_of(summary.named_frame_count, summary.frame_count)) + " named";
    const std::size_t shown = std::min(summary.unnamed_modules.size(), kMaxModulesShown);
    for (std::size_t i = 0; i < shown; ++i) {
        const RecordSummary::UnnamedModule& module = summary.unnamed_modules[i];
        text += fmt::format("{}{} {}", i == 0 ? " · no symbols: " : ", ", printable(module.module),
                            percent(module.share_of_frames));
    }
    if (summary.unnamed_modules.size() > shown) {
        text += fmt::format(" and {} more", thousands(summary.unnamed_modules.size() - shown));
    }
    const std::string run = command_for_names(summary);
    return run.empty() ? text : text + " → " + run;
}

std::string describe_hottest(std::span<const RecordSummary::HotFunction> hottest) {
    std::string text;
    for (const RecordSummary::HotFunction& hot : hottest) {
        if (!text.empty()) text += " · ";
        text += fmt::format("{} {} {}", percent(hot.share_of_samples), printable(hot.process),
                            printable(hot.function));
    }
    return text;
}

std::string describe_cost(const RecordSummary& summary) {
    return fmt::format(
        "{} of one CPU in bobbin, {} in the kernel's sampling · {} memory, {} BPF maps",
        percent(share_of(summary.own_cpu_time, summary.duration)),
        percent(share_of(summary.bpf_time, summary.duration)), byte_size(summary.peak_rss_bytes),
        byte_size(summary.bpf_map_bytes));
}

void add_refused_files(const RecordSummary& summary, std::vector<std::string>& lines) {
    const std::size_t shown = std::min(summary.refused_files.size(), kMaxRefusedShown);
    for (std::size_t i = 0; i < shown; ++i) {
        const RecordSummary::RefusedFile& file = summary.refused_files[i];
        lines.push_back(line(i == 0 ? "Refused" : "",
                             fmt::format("{}: {}", printable(file.path), printable(file.reason))));
    }
    if (summary.refused_files.size() > shown) {
        lines.push_back(
            line("", plural(summary.refused_files.size() - shown, "more file", "more files")));
    }
}

void add_name_losses(std::span<const std::string> losses, std::vector<std::string>& lines) {
    for (const std::string& loss : losses) {
        lines.push_back(line(&loss == &losses.front() ? "Names" : "", printable(loss)));
    }
}

// Files whose stacks may show it; most recordings have no such line.
void add_lost_files(const RecordSummary& summary, std::vector<std::string>& lines) {
    const auto& counts = summary.lost_files;
    const std::uint64_t lost = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    std::string text;
    for (const std::size_t reason : largest_first(counts)) {
        text += fmt::format("{}{} ({})", text.empty() ? plural(lost, "file", "files") + ": " : ", ",
                            executable::describe(static_cast<executable::LostReason>(reason)),
                            thousands(counts.at(reason)));
    }
    if (summary.announcements_lost > 0) {
        text +=
            fmt::format("{}{} noticed late, too many were new at once", text.empty() ? "" : " · ",
                        plural(summary.announcements_lost, "file", "files"));
    }
    if (!text.empty())
        lines.push_back(line("Lost", text + " · stacks that met them may end there"));
}

// The command that shows a file; empty: none that everybody has.
std::string_view reader_of(output::Format format) {
    switch (format) {
        case output::Format::kPprof:
            return "go tool pprof -http=:";
        case output::Format::kHtml:
            return "xdg-open";
        case output::Format::kFolded:
        case output::Format::kSpeedscope:
        case output::Format::kFirefox:
        case output::Format::kFirefoxGzip:
        case output::Format::kPerfetto:
            break;
    }
    return {};
}

void add_written_files(std::span<const output::WrittenFile> files,
                       std::vector<std::string>& lines) {
    std::string names;
    std::string look;
    for (const output::WrittenFile& file : files) {
        if (!names.empty()) names += " · ";
        names += fmt::format("{} ({})", printable(file.path), byte_size(file.size_bytes));
        const Result<output::Format> format = output::format_of(file.path);
        const bool is_readable_again = file.path != "-" && printable(file.path) == file.path;
        if (!is_readable_again || !format) continue;
        const std::string_view reader = reader_of(*format);
        if (reader.empty() || look.find(reader) != std::string::npos) continue;
        look += fmt::format("{}{} {}", look.empty() ? "" : " · ", reader, shell_quote(file.path));
    }
    if (!names.empty()) lines.push_back(line("Wrote", names));
    if (!look.empty()) lines.push_back(line("Look", look));
}

// Whole seconds: it is rewritten each second.
std::string elapsed_text(std::chrono::nanoseconds elapsed) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(elapsed);
    if (seconds < std::chrono::minutes(1)) return fmt::format("{}s", seconds.count());
    return short_duration(seconds);
}

}  // namespace

std::uint64_t lost_ticks(const std::array<std::uint64_t, abi::TICK_OUTCOME_COUNT>& outcomes) {
    return outcomes[abi::TICK_RING_FULL] + outcomes[abi::TICK_NO_STATE] +
           outcomes[abi::TICK_WALK_NOT_RUN];
}

std::uint64_t complete_stacks(const std::array<std::uint64_t, abi::WALK_END_COUNT>& ends) {
    std::uint64_t complete = 0;
    for (std::size_t end = 0; end < ends.size(); ++end) {
        if (report::is_complete(static_cast<abi::walk_end>(end))) complete += ends.at(end);
    }
    return complete;
}

std::vector<std::string> describe(const RecordSummary& summary) {
    std::vector<std::string> lines;
    lines.push_back(line("Recorded", describe_recorded(summary)));
    if (summary.sample_count == 0) {
        lines.push_back(line("Stacks", describe_no_samples(summary)));
    } else {
        lines.push_back(line("Stacks", describe_stacks(summary.by_walk_end)));
        if (summary.frame_count > 0) lines.push_back(line("Symbols", describe_symbols(summary)));
        if (!summary.hottest.empty())
            lines.push_back(line("Top", describe_hottest(summary.hottest)));
    }
    lines.push_back(line("Cost", describe_cost(summary)));
    add_refused_files(summary, lines);
    add_lost_files(summary, lines);
    add_name_losses(summary.name_losses, lines);
    add_written_files(summary.files, lines);
    return lines;
}

std::string describe(const Progress& progress) {
    std::string text = fmt::format("{} · {} · {}", elapsed_text(progress.elapsed),
                                   plural(progress.sample_count, "sample", "samples"),
                                   plural(progress.process_count, "process", "processes"));
    if (progress.sample_count > 0) {
        text += fmt::format(" · {} complete",
                            percent(share_of(progress.complete_count, progress.sample_count)));
    }
    return text + fmt::format(" · {} lost", thousands(progress.lost_count));
}

}  // namespace bobbin::cli

// SPDX-License-Identifier: Apache-2.0
#include "screen/page_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cli/terminal_text.h"
#include "report/weight.h"
#include "screen/cell_text.h"

namespace bobbin::screen {
namespace {

constexpr std::size_t kHeadLines = 2;
constexpr std::size_t kShareColumns = 7;  // "<0.1 %", ">99.9 %"
constexpr double kHotShare = 0.1;
constexpr double kWarmShare = 0.02;

struct HeadPart {
    std::string text;
    Style style = Style::kPlain;
};

double seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

double busy_cpus(const Snapshot& snapshot) {
    const double ticks = seconds(snapshot.window) * snapshot.frequency_hz;
    return ticks > 0 ? static_cast<double>(snapshot.profile.sample_count) / ticks : 0;
}

std::vector<HeadPart> head_parts(const Snapshot& snapshot, bool is_paused) {
    const std::uint64_t samples = snapshot.profile.sample_count;
    std::vector<HeadPart> parts{{"bobbin top", Style::kBold}};
    if (is_paused) parts.push_back({"paused", Style::kWarning});
    parts.push_back(
        {fmt::format("{:.2f} of {} CPUs busy", busy_cpus(snapshot), snapshot.cpu_count)});
    parts.push_back(
        {cli::percent(report::share_of(snapshot.complete_count, samples)) + " complete"});
    parts.push_back({cli::thousands(snapshot.lost_count) + " lost",
                     snapshot.lost_count > 0 ? Style::kWarning : Style::kPlain});
    parts.push_back({fmt::format("{} samples in {}", cli::thousands(samples),
                                 cli::short_duration(snapshot.window))});
    parts.push_back({"up " + cli::short_duration(snapshot.elapsed)});
    parts.push_back({fmt::format("own {} CPU {}", cli::percent(snapshot.own_cpus),
                                 cli::byte_size(snapshot.own_bytes))});
    return parts;
}

Style style_of_share(double share) {
    if (share >= kHotShare) return Style::kHot;
    return share >= kWarmShare ? Style::kWarm : Style::kPlain;
}

// Columns of a table; 0: left out.
struct Columns {
    std::size_t process = 0;
    std::size_t module = 0;
};

Columns columns_of(const TablePart& table, std::size_t width) {
    Columns columns{.process = width >= 60 ? std::size_t{16} : std::size_t{9}};
    if (table.is_of_processes) columns.process = std::max<std::size_t>(width / 4, 16);
    if (width >= 70) columns.module = std::min<std::size_t>(width / 4, 32);
    return columns;
}

// Shares, process, function, module: the function has what the others leave.
void add_names(const Row& row, const Columns& columns, std::size_t width, Line& line) {
    const std::size_t behind = columns.module == 0 ? 0 : columns.module + 1;
    line.add(" ").add_left(row.process, columns.process).add(" ");
    const std::size_t end = width - std::min(width, behind);
    const Style style = row.is_kernel ? Style::kKernel : Style::kPlain;
    line.add_left(row.function, end - std::min(end, line.columns()), style);
    if (columns.module != 0) line.add(" ").add(basename_of(row.module));
}

std::string draw_titles(const TablePart& table, const Columns& columns, Size size, Look look) {
    Line line(look, size.columns);
    if (table.is_of_processes) {
        line.add_right("cpu", kShareColumns, Style::kTitle);
    } else {
        const bool by_self = table.sort == report::Sort::kSelf;
        line.add_right(by_self ? "self*" : "self", kShareColumns, Style::kTitle);
        line.add_right(by_self ? "total" : "total*", kShareColumns + 1, Style::kTitle);
    }
    line.add(" ", Style::kTitle).add_left("process", columns.process, Style::kTitle);
    line.add(table.is_of_processes ? " mostly in" : " function", Style::kTitle);
    if (columns.module != 0) {
        line.fill_to(size.columns - columns.module, Style::kTitle).add("module", Style::kTitle);
    }
    return line.fill_to(size.columns, Style::kTitle).text();
}

std::string draw_row(const TablePart& table, const Row& row, const Columns& columns, Size size,
                     Look look) {
    Line line(look, size.columns);
    const double total = report::share_of(row.total_count, table.sample_count);
    if (!table.is_of_processes) {
        const double self = report::share_of(row.self_count, table.sample_count);
        line.add_right(cli::percent(self), kShareColumns, style_of_share(self)).add(" ");
    }
    line.add_right(cli::percent(total), kShareColumns,
                   table.is_of_processes ? style_of_share(total) : Style::kPlain);
    add_names(row, columns, size.columns, line);
    return line.text();
}

struct HelpLine {
    std::string_view key;
    std::string_view text;
};
constexpr std::array kHelp{
    HelpLine{"q, Ctrl-C", "quit"},
    HelpLine{"s", "sort by self or total time"},
    HelpLine{"p", "processes"},
    HelpLine{"f", "flame view, and back"},
    HelpLine{"space", "pause, and go on"},
    HelpLine{"/", "filter: regex of function, process, module"},
    HelpLine{"Esc", "no filter"},
    HelpLine{"up down", "scroll; in the flame view move"},
    HelpLine{"Enter", "flame view: zoom in"},
    HelpLine{"Backspace", "flame view: zoom out"},
    HelpLine{"self", "time in the function itself"},
    HelpLine{"total", "and in what it calls"},
};

}  // namespace

std::vector<std::string> draw_head(const Snapshot* snapshot, bool is_paused, Size size, Look look) {
    const std::size_t most_lines = size.rows < 6 ? 1 : kHeadLines;
    std::vector<Line> lines;
    const std::vector<HeadPart> parts = snapshot != nullptr
                                            ? head_parts(*snapshot, is_paused)
                                            : std::vector<HeadPart>{{"bobbin top", Style::kBold}};
    for (const HeadPart& part : parts) {
        const bool fits = !lines.empty() && part.text.size() + 2 <= lines.back().columns_left();
        if (!fits && lines.size() == most_lines) break;
        if (!fits) lines.emplace_back(look, size.columns);
        if (lines.back().columns() > 0) lines.back().add("  ");
        lines.back().add(part.text, part.style);
    }
    std::vector<std::string> texts;
    texts.reserve(lines.size());
    for (const Line& line : lines) texts.push_back(line.text());
    return texts;
}

std::vector<std::string> draw_table(const TablePart& table, Size size, Look look) {
    const Columns columns = columns_of(table, size.columns);
    std::vector<std::string> lines{draw_titles(table, columns, size, look)};
    const std::size_t first = std::min(table.first_row, table.rows.size());
    for (const Row& row : table.rows.subspan(first)) {
        if (lines.size() >= size.rows) break;
        lines.push_back(draw_row(table, row, columns, size, look));
    }
    return lines;
}

std::vector<std::string> draw_flame_part(const FlameGraph& graph, const FlameView& view, Size size,
                                         Look look) {
    const std::size_t rows = size.rows - 1;
    std::vector<std::string> lines =
        draw_flame(graph, view, {.columns = size.columns, .rows = rows}, look);
    lines.resize(rows, Line(look, size.columns).text());
    Line details(look, size.columns);
    if (const report::TreeNode* node = find_node(graph, view.cursor)) {
        details.add(
            fmt::format("{} total, {} self: ",
                        cli::percent(report::share_of(node->total.count, graph.total_count)),
                        cli::percent(report::share_of(node->self.count, graph.total_count))));
        details.add(node->group.name, Style::kBold).add(" ");
        details.add(basename_of(node->group.module));
    } else {
        details.add(cli::thousands(graph.total_count) + " samples");
    }
    lines.push_back(details.text());
    return lines;
}

std::vector<std::string> draw_help(Size size, Look look) {
    std::vector<std::string> lines;
    for (const HelpLine& help : kHelp) {
        if (lines.size() == size.rows) break;
        Line line(look, size.columns);
        lines.push_back(line.add_left(help.key, 10, Style::kBold).add(help.text).text());
    }
    return lines;
}

std::string draw_hints(Line line, bool is_flame) {
    constexpr std::array<std::string_view, 7> kTable{
        "q quit", "? help", "f flame", "s sort", "/ filter", "p processes", "space pause"};
    constexpr std::array<std::string_view, 7> kFlame{
        "q quit", "? help", "f table", "Enter zoom", "Bksp out", "/ filter", "space pause"};
    for (const std::string_view hint : is_flame ? kFlame : kTable) {
        if (hint.size() + 2 > line.columns_left()) break;
        line.add(hint, Style::kDim).add("  ");
    }
    return line.text();
}

}  // namespace bobbin::screen

// SPDX-License-Identifier: Apache-2.0
#include "cli/report_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/base_name.h"
#include "cli/terminal_text.h"
#include "report/weight.h"

namespace bobbin::cli {
namespace {

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string right_aligned(const std::string& text, std::size_t columns) {
    const std::size_t has = columns_of(text);
    return std::string(columns - std::min(has, columns), ' ') + text;
}

// Lines of cells: all but the last are numbers, right-aligned in columns; the last is as long as it
// is.
class Columns {
public:
    using Cells = std::vector<std::string>;

    void add(Cells cells) { lines_.push_back(std::move(cells)); }
    // A line of its own, across all columns.
    void add_text(std::string text) { lines_.push_back({std::move(text)}); }

    [[nodiscard]] std::string text(const Terminal& terminal, bool has_heading) const {
        std::vector<std::size_t> widths;
        for (const Cells& cells : lines_) {
            for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
                widths.resize(std::max(widths.size(), i + 1));
                widths[i] = std::max(widths[i], columns_of(cells[i]));
            }
        }
        std::string text;
        for (const Cells& cells : lines_) {
            std::string line;
            for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
                line.append(right_aligned(cells[i], widths[i])).append("  ");
            }
            line = cut_to(line.append(cells.back()), terminal.columns);
            const bool is_bold = terminal.has_colours && has_heading && &cells == &lines_.front();
            text += is_bold ? fmt::format("\x1b[1m{}\x1b[0m\n", line) : line + "\n";
        }
        return text;
    }

private:
    std::vector<Cells> lines_;
};

class TextWriter {
public:
    TextWriter(const ReportAnswer& report, const Terminal& terminal)
        : report_(report), terminal_(terminal) {}

    std::string write() {
        std::string text = cut_to(describe_whole(report_), terminal_.columns) + "\n";
        if (report_.shown != report_.all) {
            text += cut_to(fmt::format("shown: {} of it, {}", share(report_.shown.value),
                                       value(report_.shown.value)),
                           terminal_.columns) +
                    "\n";
        }
        if (report_.shown == report::Weight{}) return text;
        return text + "\n" +
               std::visit([this](const auto& rows) { return write_rows(rows); }, report_.rows);
    }

private:
    [[nodiscard]] std::string value(std::uint64_t number) const {
        return value_text(number, report_.value_type.unit);
    }
    [[nodiscard]] std::string share(std::uint64_t number) const {
        return percent(report::share_of(number, report_.all.value));
    }
    [[nodiscard]] std::size_t shown_of(std::size_t count) const {
        return report_.max_rows == 0 ? count : std::min(count, report_.max_rows);
    }

    [[nodiscard]] std::string write_rows(const std::vector<report::TableRow>& rows) const {
        const bool has_self = report::groups_frames(report_.grouping.by);
        Columns columns;
        const std::string title(title_of(report_.grouping));
        if (has_self) {
            columns.add({"self", "self %", "total", "total %", title});
        } else {
            columns.add({"total", "total %", title});
        }
        for (const report::TableRow& row : std::span(rows).first(shown_of(rows.size()))) {
            Columns::Cells cells{value(row.total.value), share(row.total.value),
                                 describe(row.group)};
            if (has_self) {
                cells.insert(cells.begin(), {value(row.self.value), share(row.self.value)});
            }
            columns.add(std::move(cells));
        }
        return columns.text(terminal_, true) + say_what_is_left_out(rows.size());
    }

    [[nodiscard]] std::string say_what_is_left_out(std::size_t count) const {
        const std::size_t left = count - shown_of(count);
        if (left == 0) return {};
        return fmt::format("and {} more; --top 0 shows all\n", thousands(left));
    }

    [[nodiscard]] std::string write_rows(const std::vector<report::Peek>& peeks) const {
        if (peeks.empty()) return "nothing has such a name\n";
        std::string text;
        for (const report::Peek& peek : std::span(peeks).first(shown_of(peeks.size()))) {
            if (!text.empty()) text += '\n';
            text += write_peek(peek);
        }
        return text + say_what_is_left_out(peeks.size());
    }

    [[nodiscard]] std::string write_peek(const report::Peek& peek) const {
        Columns columns;
        columns.add_text(describe(peek.row.group));
        const report::Weight& total = peek.row.total;
        columns.add_text(fmt::format("  self {} ({}), total {} ({})", value(peek.row.self.value),
                                     share(peek.row.self.value), value(total.value),
                                     share(total.value)));
        add_neighbours("called by", peek.callers, total, columns);
        add_neighbours("calls", peek.callees, total, columns);
        return columns.text(terminal_, true);
    }

    void add_neighbours(std::string_view title, const std::vector<report::Neighbour>& neighbours,
                        const report::Weight& whole, Columns& columns) const {
        if (neighbours.empty()) return;
        columns.add_text(fmt::format("  {}", title));
        const std::size_t shown = shown_of(neighbours.size());
        for (const report::Neighbour& neighbour : std::span(neighbours).first(shown)) {
            columns.add({"    " + value(neighbour.weight.value),
                         percent(report::share_of(neighbour.weight.value, whole.value)),
                         describe(neighbour.group)});
        }
        if (shown < neighbours.size()) {
            columns.add_text(fmt::format("    and {} more", thousands(neighbours.size() - shown)));
        }
    }

    // What is alone below its caller is not indented: chains are long, forks are few.
    [[nodiscard]] std::string write_rows(const report::CallTree& tree) const {
        std::vector<std::size_t> children(tree.nodes.size());
        for (const report::TreeNode& node : tree.nodes) {
            if (node.parent != report::TreeNode::kNoParent) ++children[node.parent];
        }
        std::vector<std::size_t> indent(tree.nodes.size());
        Columns columns;
        columns.add({"total", "total %", "self", std::string(title_of(report_.grouping))});
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const report::TreeNode& node = tree.nodes[i];
            if (node.parent != report::TreeNode::kNoParent) {
                indent[i] = indent[node.parent] + (children[node.parent] > 1 ? 2 : 0);
            }
            columns.add({value(node.total.value), share(node.total.value),
                         node.self.value == 0 ? "" : value(node.self.value),
                         std::string(indent[i], ' ') + describe(node.group)});
        }
        std::string text = columns.text(terminal_, true);
        if (!tree.is_cut) return text;
        // Where --top was 0 already, only depth has cut it.
        text += report_.max_rows == 0 ? "and deeper calls\n"
                                      : "and more; --top 0 shows all from 0.5 % on\n";
        return text;
    }

    const ReportAnswer& report_;
    const Terminal& terminal_;
};

}  // namespace

std::string value_text(std::uint64_t value, std::string_view unit) {
    if (unit == "count") return thousands(value);
    if (unit == "bytes") return byte_size(value);
    if (unit != "nanoseconds") return fmt::format("{} {}", thousands(value), printable(unit));
    const auto number = static_cast<double>(value);
    // 999.5 would be written as 1000.
    if (value >= 1'000'000'000'000) return thousands(value / 1'000'000'000) + "s";
    if (value >= 999'500'000) return fmt::format("{:.2f}s", number / 1e9);
    if (value >= 999'500) return fmt::format("{:.0f}ms", number / 1e6);
    if (value >= 1'000) return fmt::format("{:.0f}us", number / 1e3);
    return fmt::format("{}ns", value);
}

std::string describe_whole(const ReportAnswer& report) {
    const std::string file = printable(report.file);
    if (report.all == report::Weight{}) {
        return fmt::format("{}: no {}", file, printable(report.count_type.name));
    }
    std::string text = fmt::format("{}: {} {}", file, thousands(report.all.count),
                                   printable(report.count_type.name));
    if (report.value_type != report.count_type) {
        text += fmt::format(", {} of {}", value_text(report.all.value, report.value_type.unit),
                            printable(report.value_type.name));
    }
    if (report.duration.count() <= 0) return text;
    text += " in " + short_duration(report.duration);
    if (report.value_type.unit != "nanoseconds") return text;
    return text + fmt::format(": {:.2f} cores", static_cast<double>(report.all.value) /
                                                    static_cast<double>(report.duration.count()));
}

std::string_view title_of(const report::Grouping& grouping) {
    static constexpr std::array<std::string_view, 9> kTitles{
        "function", "line", "file", "module", "process", "thread", "unit", "cpu", "container"};
    const auto by = static_cast<std::size_t>(grouping.by);
    return by < kTitles.size() ? kTitles.at(by) : std::string_view(grouping.label_key);
}

std::string describe(const report::Group& group) {
    std::string text = printable(group.name);
    if (group.is_inlined) text += " (inlined)";
    if (!group.module.empty()) text += "  " + printable(base_name(group.module));
    if (group.file.empty()) return text;
    text += "  " + printable(base_name(group.file));
    return group.line == 0 ? text : text + fmt::format(":{}", group.line);
}

std::string cut_to(std::string text, std::size_t columns) {
    if (columns == 0 || columns_of(text) <= columns) return text;
    std::size_t column = 0;
    std::size_t end = 0;
    for (; end < text.size(); ++end) {
        const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
        if (begins && ++column == columns) break;
    }
    text.resize(end);
    return text + "…";
}

std::string to_text(const ReportAnswer& report, const Terminal& terminal) {
    return TextWriter(report, terminal).write();
}

}  // namespace bobbin::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <span>

#include "cli/report_text.h"
#include "cli/terminal_text.h"
#include "report/weight.h"

namespace bobbin::cli {
namespace {

using Json = nlohmann::ordered_json;

Json group_json(const report::Group& group) {
    Json json{{"name", group.name}};
    if (!group.module.empty()) json["module"] = group.module;
    if (!group.file.empty()) json["file"] = group.file;
    if (group.line != 0) json["line"] = group.line;
    if (group.is_kernel) json["kernel"] = true;
    if (group.is_inlined) json["inlined"] = true;
    return json;
}

class JsonWriter {
public:
    explicit JsonWriter(const ReportAnswer& report) : report_(report) {}

    Json write() {
        Json json{{"file", report_.file},
                  {"value", {{"name", report_.value_type.name}, {"unit", report_.value_type.unit}}},
                  {"count", report_.count_type.name},
                  {"all", weight_json(report_.all)},
                  {"shown", weight_json(report_.shown)},
                  {"duration_ns", report_.duration.count()}};
        if (report_.value_type.unit == "nanoseconds" && report_.duration.count() > 0) {
            json["cores"] = static_cast<double>(report_.all.value) /
                            static_cast<double>(report_.duration.count());
        }
        json["by"] = title_of(report_.grouping);
        std::visit([&](const auto& rows) { add_rows(rows, json); }, report_.rows);
        return json;
    }

private:
    [[nodiscard]] Json weight_json(const report::Weight& weight) const {
        return {{"count", weight.count},
                {"value", weight.value},
                {"share", report::share_of(weight.value, report_.all.value)}};
    }
    template <class T>
    std::span<const T> shown(const std::vector<T>& rows) const {
        const bool is_cut = report_.max_rows != 0 && report_.max_rows < rows.size();
        return std::span(rows).first(is_cut ? report_.max_rows : rows.size());
    }
    [[nodiscard]] Json row_json(const report::TableRow& row) const {
        Json json = group_json(row.group);
        json["self"] = weight_json(row.self);
        json["total"] = weight_json(row.total);
        return json;
    }

    void add_rows(const std::vector<report::TableRow>& rows, Json& json) const {
        json["row_count"] = rows.size();
        Json& list = json["rows"] = Json::array();
        for (const report::TableRow& row : shown(rows)) list.push_back(row_json(row));
    }

    void add_rows(const std::vector<report::Peek>& peeks, Json& json) const {
        json["row_count"] = peeks.size();
        Json& list = json["rows"] = Json::array();
        for (const report::Peek& peek : shown(peeks)) {
            Json row = row_json(peek.row);
            row["callers"] = neighbours_json(peek.callers);
            row["callees"] = neighbours_json(peek.callees);
            list.push_back(std::move(row));
        }
    }
    [[nodiscard]] Json neighbours_json(const std::vector<report::Neighbour>& neighbours) const {
        Json list = Json::array();
        for (const report::Neighbour& neighbour : shown(neighbours)) {
            Json json = group_json(neighbour.group);
            json["weight"] = weight_json(neighbour.weight);
            list.push_back(std::move(json));
        }
        return list;
    }

    // Flat: the readers of deeply nested JSON are few.
    void add_rows(const report::CallTree& tree, Json& json) const {
        json["is_cut"] = tree.is_cut;
        Json& list = json["nodes"] = Json::array();
        for (const report::TreeNode& node : tree.nodes) {
            Json row = row_json({node.group, node.self, node.total});
            row["depth"] = node.depth;
            row["parent"] =
                node.parent == report::TreeNode::kNoParent ? Json(nullptr) : Json(node.parent);
            list.push_back(std::move(row));
        }
    }

    const ReportAnswer& report_;
};

std::string table_markdown(const ReportAnswer& report, const std::vector<report::TableRow>& rows) {
    const auto value = [&](std::uint64_t number) {
        return fmt::format("{} | {}", value_text(number, report.value_type.unit),
                           percent(report::share_of(number, report.all.value)));
    };
    std::string text = fmt::format("| self | | total | | {} | module | file |\n",
                                   markdown_code(title_of(report.grouping)));
    text += "|--:|--:|--:|--:|---|---|---|\n";
    const bool is_cut = report.max_rows != 0 && report.max_rows < rows.size();
    for (const report::TableRow& row :
         std::span(rows).first(is_cut ? report.max_rows : rows.size())) {
        const report::Group& group = row.group;
        const std::string file =
            group.line == 0 ? group.file : fmt::format("{}:{}", group.file, group.line);
        text += fmt::format("| {} | {} | {} | {} | {} |\n", value(row.self.value),
                            value(row.total.value), markdown_code(group.name),
                            markdown_code(group.module), markdown_code(file));
    }
    return text;
}

}  // namespace

std::string to_json(const ReportAnswer& report) {
    // Names in a file are any bytes.
    return JsonWriter(report).write().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_markdown(const ReportAnswer& report) {
    const auto* const rows = std::get_if<std::vector<report::TableRow>>(&report.rows);
    if (rows != nullptr) {
        return fmt::format("{}\n\n{}", markdown_code(describe_whole(report)),
                           table_markdown(report, *rows));
    }
    const std::string text = to_text(report, {});
    // Longer than any in the text, so that no name ends it.
    std::string fence = "~~~";
    while (text.find(fence) != std::string::npos) fence += fence;
    return fmt::format("{}\n{}{}\n", fence, text, fence);
}

}  // namespace bobbin::cli

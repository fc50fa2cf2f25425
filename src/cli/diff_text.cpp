// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/diff.h"
#include "cli/exit_status.h"
#include "cli/terminal_text.h"

namespace bobbin::cli {
namespace {

using report::FunctionDiff;

bool is_share(const DiffAnswer& answer) {
    return answer.diff.options.normalize == report::Normalize::kShare;
}

std::string amount_text(const DiffAnswer& answer, double amount) {
    return is_share(answer) ? fmt::format("{:.2f} %", 100 * amount)
                            : fmt::format("{:.3f} cores", amount);
}

std::string change_text(const FunctionDiff& function) {
    const double change = function.relative_change();
    return std::isfinite(change) ? fmt::format("{:+.1f} %", 100 * change) : "new";
}

// Of a difference like this by chance.
std::string chance_text(const FunctionDiff& function) {
    if (!function.has_enough_samples) return "too few samples";
    if (function.p_value < 1e-6) return "p < 0.000001";
    return fmt::format("p = {:.2g}", function.p_value);
}

std::string verdict(const FunctionDiff& function) {
    if (!function.is_significant) return "no";
    return function.change() > 0 ? "slower" : "faster";
}

std::string heading(const DiffAnswer& answer) {
    const auto& diff = answer.diff;
    return fmt::format(
        "{} samples, compared with {}: {} {} of each function with at least {:.3g} % of the "
        "samples",
        thousands(diff.sample_count), thousands(diff.base_sample_count),
        diff.options.on == report::DiffOn::kSelf ? "self" : "total",
        is_share(answer) ? "share" : "cores", 100 * diff.options.min_share);
}

std::size_t rows_of(const DiffAnswer& answer) {
    const std::size_t all = answer.diff.functions.size();
    return answer.command.top == 0 ? all : std::min(all, answer.command.top);
}

std::string rest_text(const DiffAnswer& answer) {
    const std::size_t left = answer.diff.functions.size() - rows_of(answer);
    std::string text;
    if (left > 0) text += fmt::format("{} more functions: --top 0 shows all\n", thousands(left));
    if (answer.diff.small_count > 0) {
        text += fmt::format("{} smaller functions were not compared: --min-share\n",
                            thousands(answer.diff.small_count));
    }
    return text;
}

}  // namespace

std::string to_text(const DiffAnswer& answer) {
    std::string text = heading(answer) + "\n\n";
    text += fmt::format("{:>12} {:>12} {:>10}  {:<7} {:<16} {}\n", "BASE", "NEW", "CHANGE", "SURE",
                        "CHANCE", "FUNCTION");
    for (std::size_t i = 0; i < rows_of(answer); ++i) {
        const FunctionDiff& function = answer.diff.functions[i];
        text += fmt::format("{:>12} {:>12} {:>10}  {:<7} {:<16} {}",
                            amount_text(answer, function.base_amount),
                            amount_text(answer, function.amount), change_text(function),
                            verdict(function), chance_text(function), printable(function.name));
        if (!function.module.empty()) text += fmt::format(" ({})", printable(function.module));
        text += '\n';
    }
    if (answer.diff.functions.empty()) text += "no function is that large\n";
    return text + rest_text(answer);
}

std::string to_markdown(const DiffAnswer& answer) {
    std::string text = heading(answer) + ".\n\n";
    text += "| base | new | change | sure | chance | function | module |\n";
    text += "|---:|---:|---:|---|---|---|---|\n";
    for (std::size_t i = 0; i < rows_of(answer); ++i) {
        const FunctionDiff& function = answer.diff.functions[i];
        text += fmt::format(
            "| {} | {} | {} | {} | {} | {} | {} |\n", amount_text(answer, function.base_amount),
            amount_text(answer, function.amount), change_text(function), verdict(function),
            chance_text(function), markdown_code(function.name), markdown_code(function.module));
    }
    const std::string rest = rest_text(answer);
    return rest.empty() ? text : text + "\n" + rest;
}

std::string to_json(const DiffAnswer& answer) {
    using Json = nlohmann::ordered_json;
    Json functions = Json::array();
    for (const FunctionDiff& function : answer.diff.functions) {
        const double relative = function.relative_change();
        functions.push_back(Json{
            {"name", function.name},
            {"module", function.module},
            {"base_samples", function.base_count},
            {"samples", function.count},
            {"base", function.base_amount},
            {"new", function.amount},
            {"change", function.change()},
            {"relative_change", std::isfinite(relative) ? Json(relative) : Json(nullptr)},
            {"p_value", function.has_enough_samples ? Json(function.p_value) : Json(nullptr)},
            {"significant", function.is_significant},
        });
    }
    Json above = Json::array();
    for (const FunctionDiff& function : answer.above) above.push_back(function.name);
    const Json json{
        {"on", answer.diff.options.on == report::DiffOn::kSelf ? "self" : "total"},
        {"normalize", is_share(answer) ? "share" : "absolute"},
        {"unit", is_share(answer) ? "share" : "cores"},
        {"significance_level", report::kSignificanceLevel},
        {"min_share", answer.diff.options.min_share},
        {"base_samples", answer.diff.base_sample_count},
        {"samples", answer.diff.sample_count},
        {"smaller_functions", answer.diff.small_count},
        {"fail_above",
         answer.command.fail_above ? Json(*answer.command.fail_above) : Json(nullptr)},
        {"above", above},
        {"functions", functions},
    };
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

UserError explain_gate(const DiffAnswer& answer) {
    const FunctionDiff& first = answer.above.front();
    std::string others;
    if (answer.above.size() > 1) others = fmt::format(" and {} more", answer.above.size() - 1);
    return {fmt::format("{}{} grew by more than {:.3g} %", printable(first.name), others,
                        100 * answer.command.fail_above.value_or(0)),
            fmt::format("{}: {}, was {}: {}, {}", printable(first.name),
                        amount_text(answer, first.amount), amount_text(answer, first.base_amount),
                        change_text(first), chance_text(first)),
            fmt::format("bobbin view {} {}", shell_quote(answer.command.path),
                        shell_quote(answer.command.base_path)),
            kExitDiffGate};
}

}  // namespace bobbin::cli

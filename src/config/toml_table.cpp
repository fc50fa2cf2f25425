// SPDX-License-Identifier: Apache-2.0
#include "config/toml_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "config/nearest_name.h"
#include "config/parse_duration.h"
#include "config/parse_size.h"

namespace bobbin::config {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kMaxBytes = 1ULL << 50;

std::string_view type_name(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::table:
            return "a table";
        case toml::node_type::array:
            return "an array";
        case toml::node_type::string:
            return "a string";
        case toml::node_type::integer:
            return "a whole number";
        case toml::node_type::floating_point:
            return "a number";
        case toml::node_type::boolean:
            return "true or false";
        default:
            return "a date or time";
    }
}

// " = 5", for a value of which one sees what is wrong.
std::string show_value(const toml::node& node) {
    if (const auto* text = node.as_string()) return fmt::format(" = \"{}\"", text->get());
    if (const auto* number = node.as_integer()) return fmt::format(" = {}", number->get());
    if (const auto* number = node.as_floating_point()) return fmt::format(" = {}", number->get());
    return {};
}

std::string suggest(std::string_view typed, std::span<const std::string_view> names,
                    std::string_view introduction) {
    if (const auto meant = nearest_name(names, typed)) {
        return fmt::format("did you mean {}?", *meant);
    }
    return fmt::format("{} {}", introduction, fmt::join(names, ", "));
}

}  // namespace

void FirstMistake::note(const toml::source_position& at, std::string what, std::string why) {
    if (is_noted_ && at_ <= at) return;
    is_noted_ = true;
    at_ = at;
    what_ = std::move(what);
    why_ = std::move(why);
}

ConfigError FirstMistake::in(const std::string& path) const {
    return {fmt::format("{}:{}:{}", path, at_.line, at_.column), what_, why_};
}

const toml::node* TomlTable::take(std::string_view key) {
    known_.push_back(key);
    return table_ != nullptr ? table_->get(key) : nullptr;
}

template <class T>
const T* TomlTable::take_as(std::string_view key, std::string_view wanted) {
    const toml::node* const node = take(key);
    if (node == nullptr) return nullptr;
    if (const T* value = node->as<T>()) return value;
    complain(*node, fmt::format("{} is {}", full_name(key), type_name(*node)),
             fmt::format("it takes {}", wanted));
    return nullptr;
}

const std::string* TomlTable::take_string(std::string_view key, std::string_view wanted) {
    const auto* const value = take_as<toml::value<std::string>>(key, wanted);
    return value != nullptr ? &value->get() : nullptr;
}

TomlTable TomlTable::take_table(std::string_view key) {
    const auto* const table =
        take_as<toml::table>(key, "a table, which begins with its name in []");
    return {table, full_name(key), *mistake_};
}

std::vector<TomlTable> TomlTable::take_tables(std::string_view key) {
    std::vector<TomlTable> tables;
    const std::string wanted = fmt::format("tables, each of which begins with [[{}]]", key);
    const auto* const array = take_as<toml::array>(key, wanted);
    if (array == nullptr) return tables;
    for (const toml::node& element : *array) {
        if (element.is_table()) {
            tables.emplace_back(element.as_table(), full_name(key), *mistake_);
        } else {
            complain(element, fmt::format("{} has {}", full_name(key), type_name(element)),
                     "it takes " + wanted);
        }
    }
    return tables;
}

void TomlTable::take_flag(std::string_view key, bool& to) {
    if (const auto* value = take_as<toml::value<bool>>(key, "true or false")) to = value->get();
}

void TomlTable::take_count(std::string_view key, std::uint32_t& to, std::uint32_t min,
                           std::uint32_t max) {
    const std::string wanted = fmt::format("a whole number from {} to {}", min, max);
    const auto* const value = take_as<toml::value<std::int64_t>>(key, wanted);
    if (value == nullptr) return;
    if (value->get() < min || value->get() > max) return refuse(key, "it takes " + wanted);
    to = static_cast<std::uint32_t>(value->get());
}

void TomlTable::take_number(std::string_view key, double& to, double max) {
    const std::string wanted = fmt::format("it takes a number above 0 and up to {}", max);
    const toml::node* const node = take(key);
    if (node == nullptr) return;
    const std::optional<double> number = node->is_number() ? node->value<double>() : std::nullopt;
    // TOML has inf and nan; nan compares with nothing.
    const bool is_fit = number && *number > 0 && *number <= max;
    if (!is_fit) return refuse(key, wanted);
    to = *number;
}

void TomlTable::take_duration(std::string_view key, seconds& to, seconds min, seconds max) {
    const std::string* const text = take_string(key, "a duration in quotes, like \"90s\"");
    if (text == nullptr) return;
    const auto parsed = parse_duration(*text);
    if (!parsed) return refuse(key, parsed.error().message());
    if (*parsed % seconds{1} != seconds{0} || *parsed < min || *parsed > max) {
        return refuse(
            key, fmt::format("it takes whole seconds, from {}s to {}s", min.count(), max.count()));
    }
    to = std::chrono::duration_cast<seconds>(*parsed);
}

void TomlTable::take_size(std::string_view key, std::uint64_t& to, std::uint64_t min_bytes) {
    const std::string* const text = take_string(key, "a size in quotes, like \"256M\"");
    if (text == nullptr) return;
    const auto parsed = parse_size(*text);
    if (!parsed) return refuse(key, parsed.error().message());
    if (*parsed < min_bytes || *parsed > kMaxBytes) {
        return refuse(key, fmt::format("it takes {}M to {}T", min_bytes >> 20, kMaxBytes >> 40));
    }
    to = *parsed;
}

void TomlTable::take_text(std::string_view key, std::string& to) {
    if (const std::string* text = take_string(key)) to = *text;
}

void TomlTable::take_path(std::string_view key, std::string& to) {
    const std::string* const text = take_string(key);
    if (text == nullptr) return;
    if (!text->starts_with('/')) return refuse(key, "it takes a path that begins with /");
    to = *text;
}

void TomlTable::take_names(std::string_view key, std::vector<std::string>& to) {
    const auto* const array = take_as<toml::array>(key, R"(an array of strings, like ["a", "b"])");
    if (array == nullptr) return;
    std::vector<std::string> names;
    for (const toml::node& element : *array) {
        const auto* const name = element.as_string();
        if (name == nullptr || name->get().empty()) {
            return complain(element,
                            fmt::format("{} has an element that is no name", full_name(key)),
                            "each is a string that is not empty");
        }
        names.push_back(name->get());
    }
    to = std::move(names);
}

std::size_t TomlTable::take_one_of(std::string_view key, std::span<const std::string_view> names) {
    const std::string* const text = take_string(key);
    if (text == nullptr) return names.size();
    const auto found = std::find(names.begin(), names.end(), *text);
    if (found == names.end()) refuse(key, suggest(*text, names, "it is one of"));
    return static_cast<std::size_t>(found - names.begin());
}

void TomlTable::take_all_texts(
    std::map<std::string, std::string>& to,
    const std::function<std::string_view(std::string_view, std::string_view)>& problem_of) {
    if (table_ == nullptr) return;
    for (const auto& [key, node] : *table_) {
        const auto* const text = node.as_string();
        if (text == nullptr) {
            complain(node, fmt::format("{} is {}", full_name(key.str()), type_name(node)),
                     "it takes a string");
            continue;
        }
        const std::string_view problem = problem_of(key.str(), text->get());
        if (!problem.empty()) refuse(key.str(), problem);
        to.emplace(key.str(), text->get());
    }
}

bool TomlTable::has(std::string_view key) const {
    return table_ != nullptr && table_->contains(key);
}

void TomlTable::refuse(std::string_view key, std::string_view why) {
    const toml::node& node = *table_->get(key);
    complain(node, full_name(key) + show_value(node), why);
}

void TomlTable::require(std::string_view key, std::string_view why) {
    if (!has(key)) complain(*table_, fmt::format("{} is missing", full_name(key)), why);
}

void TomlTable::refuse_others() {
    if (table_ == nullptr) return;
    for (const auto& [key, node] : *table_) {
        if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
        mistake_->note(key.source().begin, fmt::format("unknown key {}", full_name(key.str())),
                       suggest(key.str(), known_, "the keys here are"));
    }
}

std::string TomlTable::full_name(std::string_view key) const {
    return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
}

void TomlTable::complain(const toml::node& node, std::string what, std::string_view why) {
    mistake_->note(node.source().begin, std::move(what), std::string(why));
}

}  // namespace bobbin::config

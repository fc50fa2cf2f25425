// SPDX-License-Identifier: Apache-2.0
#include "store/where.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "profile/merge_profiles.h"

namespace bobbin::store {
namespace {

std::string value_of(const symbolize::SampleLabels& labels, std::string_view label) {
    if (label == "unit") return labels.unit;
    if (label == "comm") return labels.comm;
    if (label == "thread") return labels.thread;
    if (label == "container") return labels.container;
    if (label == "cgroup") return labels.cgroup;
    if (label == "cpu") return std::to_string(labels.cpu);
    if (label == "pid") return std::to_string(labels.pid);
    if (label == "tid") return std::to_string(labels.tid);
    for (const auto& [key, text] : labels.others) {
        if (key == label) return text;
    }
    return {};
}

// A unit owns what its cgroup contains: a folder of the path has its name.
bool is_of_unit(const symbolize::SampleLabels& labels, const std::string& unit) {
    if (labels.unit == unit) return true;
    const std::string folder = "/" + unit + "/";
    return (labels.cgroup + "/").find(folder) != std::string::npos;
}

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}

}  // namespace

// One text, from left to right.
class WhereParser {
public:
    explicit WhereParser(std::string_view text) : text_(text) {}

    Result<Where> parse() {
        Where where;
        skip_blanks();
        const bool has_brace = skip("{");
        skip_blanks();
        while (!is_at_end(has_brace)) {
            BOBBIN_TRY(Where::Condition condition, read_condition());
            where.conditions_.push_back(std::move(condition));
            skip_blanks();
            if (is_at_end(has_brace)) break;
            if (!skip(",")) return fail("column {}: a comma has to stand between two", column());
            skip_blanks();
        }
        if (has_brace && !skip("}")) return fail("column {}: the brace is not closed", column());
        skip_blanks();
        if (at_ != text_.size()) return fail("column {}: nothing may follow the brace", column());
        return where;
    }

private:
    [[nodiscard]] std::size_t column() const { return at_ + 1; }
    [[nodiscard]] bool is_at_end(bool has_brace) const {
        return at_ == text_.size() || (has_brace && text_[at_] == '}');
    }
    void skip_blanks() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
            ++at_;
        }
    }
    bool skip(std::string_view word) {
        if (!text_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }

    Result<Where::Condition> read_condition() {
        Where::Condition condition;
        condition.label = read_name();
        if (condition.label.empty()) {
            return fail("column {}: a label has to stand here, such as comm or unit", column());
        }
        skip_blanks();
        const bool is_pattern = read_operator(condition.is_negated);
        if (operator_is_missing_) {
            return fail("column {}: = != =~ or !~ has to stand behind {}", column(),
                        condition.label);
        }
        skip_blanks();
        const std::size_t begin = column();
        BOBBIN_TRY(condition.text, read_value());
        if (!is_pattern) return condition;
        auto pattern = report::Pattern::compile("^(" + condition.text + ")$");
        if (!pattern) return fail("column {}: {}", begin, pattern.error().message());
        condition.pattern = std::make_shared<const report::Pattern>(std::move(*pattern));
        return condition;
    }

    std::string read_name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
        return std::string(text_.substr(begin, at_ - begin));
    }

    // Whether what follows is a pattern.
    bool read_operator(bool& is_negated) {
        if (skip("=~")) return true;
        if (skip("!~")) return is_negated = true;
        if (skip("!=")) {
            is_negated = true;
        } else {
            operator_is_missing_ = !skip("=");
        }
        return false;
    }

    Result<std::string> read_value() {
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        if (quote == '"' || quote == '\'') return read_quoted(quote);
        const std::size_t begin = at_;
        while (at_ < text_.size() &&
               std::string_view(", \t\n}").find(text_[at_]) == std::string_view::npos) {
            ++at_;
        }
        if (at_ == begin) return fail("column {}: a value has to stand here", column());
        return std::string(text_.substr(begin, at_ - begin));
    }

    // A backslash takes a quote or another backslash for what it is; before anything else it
    // stands for itself, as in the patterns that people write.
    Result<std::string> read_quoted(char quote) {
        const std::size_t begin = column();
        std::string value;
        for (++at_; at_ < text_.size(); ++at_) {
            if (text_[at_] == quote) {
                ++at_;
                return value;
            }
            const bool is_escape = text_[at_] == '\\' && at_ + 1 < text_.size() &&
                                   (text_[at_ + 1] == quote || text_[at_ + 1] == '\\');
            if (is_escape) ++at_;
            value += text_[at_];
        }
        return fail("column {}: the quote is not closed", begin);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool operator_is_missing_ = false;
};

Result<Where> Where::parse(std::string_view text) { return WhereParser(text).parse(); }

void Where::add_unit(std::string unit) {
    if (unit.find('.') == std::string::npos) unit += ".service";
    units_.push_back(std::move(unit));
}

bool Where::matches(const symbolize::SampleLabels& labels) const {
    if (!units_.empty() && std::ranges::none_of(units_, [&](const std::string& unit) {
            return is_of_unit(labels, unit);
        })) {
        return false;
    }
    return std::ranges::all_of(conditions_, [&](const Condition& condition) {
        const std::string value = value_of(labels, condition.label);
        const bool is_equal = condition.pattern == nullptr ? value == condition.text
                                                           : condition.pattern->matches(value);
        return is_equal != condition.is_negated;
    });
}

void Where::keep_matching(symbolize::NamedProfile& profile) const {
    if (is_everything()) return;
    std::erase_if(profile.stacks,
                  [this](const symbolize::NamedStack& stack) { return !matches(stack.labels); });
    profile.sample_count = 0;
    profile.by_walk_end = {};
    for (const symbolize::NamedStack& stack : profile.stacks) {
        profile.sample_count += stack.count;
        profile.by_walk_end.at(stack.walk_end) += stack.count;
    }
    profile::ProfileMerger merger;  // leaves out what nothing refers to
    merger.add(profile);
    profile = merger.take();
}

}  // namespace bobbin::store

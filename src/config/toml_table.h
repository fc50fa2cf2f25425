// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>
#include <toml++/toml.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/daemon_config.h"

namespace bobbin::config {

// Of the mistakes in a file the first one: that is where one begins to read.
class FirstMistake {
public:
    void note(const toml::source_position& at, std::string what, std::string why);
    [[nodiscard]] bool is_noted() const { return is_noted_; }
    [[nodiscard]] ConfigError in(const std::string& path) const;

private:
    bool is_noted_ = false;
    toml::source_position at_{};
    std::string what_;
    std::string why_;
};

template <class T>
struct Choice {
    std::string_view name;
    T value;
};

// One table of a file, or none. Values are taken by their keys, and what is not as it should be is
// noted and leaves `to` as it was. A key that nobody took is a mistake, too: so the names that a
// file may have are listed nowhere but where they are taken.
class TomlTable {
public:
    TomlTable(const toml::table* table, std::string name, FirstMistake& mistake)
        : table_(table), name_(std::move(name)), mistake_(&mistake) {}

    // Keys are literals: the table remembers them.
    TomlTable take_table(std::string_view key);
    std::vector<TomlTable> take_tables(std::string_view key);
    void take_flag(std::string_view key, bool& to);
    void take_count(std::string_view key, std::uint32_t& to, std::uint32_t min, std::uint32_t max);
    void take_number(std::string_view key, double& to, double max);  // above 0
    void take_duration(std::string_view key, std::chrono::seconds& to, std::chrono::seconds min,
                       std::chrono::seconds max);
    void take_size(std::string_view key, std::uint64_t& to, std::uint64_t min_bytes);
    void take_text(std::string_view key, std::string& to);
    void take_path(std::string_view key, std::string& to);
    void take_names(std::string_view key, std::vector<std::string>& to);
    template <class T>
    void take_choice(std::string_view key, T& to, std::span<const Choice<T>> choices) {
        std::vector<std::string_view> names;
        for (const Choice<T>& choice : choices) names.push_back(choice.name);
        const std::size_t chosen = take_one_of(key, names);
        if (chosen < choices.size()) to = choices[chosen].value;
    }
    // Every key, whatever its name; `problem_of(key, text)` says what is wrong with an entry.
    void take_all_texts(
        std::map<std::string, std::string>& to,
        const std::function<std::string_view(std::string_view, std::string_view)>& problem_of);

    [[nodiscard]] bool has(std::string_view key) const;
    // The value at `key`, which is there, cannot be.
    void refuse(std::string_view key, std::string_view why);
    void require(std::string_view key, std::string_view why);
    // Behind the last take.
    void refuse_others();

private:
    const toml::node* take(std::string_view key);
    template <class T>
    const T* take_as(std::string_view key, std::string_view wanted);
    const std::string* take_string(std::string_view key, std::string_view wanted = "a string");
    // As many as there are names: none.
    std::size_t take_one_of(std::string_view key, std::span<const std::string_view> names);
    [[nodiscard]] std::string full_name(std::string_view key) const;
    void complain(const toml::node& node, std::string what, std::string_view why);

    const toml::table* table_;  // null: not in the file
    std::string name_;
    FirstMistake* mistake_;
    std::vector<std::string_view> known_;
};

}  // namespace bobbin::config

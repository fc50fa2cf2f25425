// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/html.h"
#include "profile/string_table.h"

namespace bobbin::profile {
namespace {

// As in view.js.
constexpr std::uint32_t kKernel = 1;
constexpr std::uint32_t kInlined = 2;
constexpr std::uint32_t kUnnamed = 4;
constexpr std::uint32_t kProcess = 8;

// A function in a module is one frame, whatever its line: the box of the flame graph. It shows the
// line that most samples were at.
class Frames {
public:
    // Name, module, file, flags.
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

    std::uint32_t number_of(const Key& key, std::uint32_t line, std::uint64_t count) {
        const auto [found, is_new] =
            number_by_key_.try_emplace(key, static_cast<std::uint32_t>(frames_.size()));
        if (is_new) frames_.push_back({key, {}});
        frames_[found->second].count_by_line[line] += count;
        return found->second;
    }

    [[nodiscard]] std::vector<std::uint32_t> words() const {
        std::vector<std::uint32_t> words;
        for (const Frame& frame : frames_) {
            const auto& [name, module, file, flags] = frame.key;
            words.insert(words.end(), {name, module, file, hottest_line(frame), flags});
        }
        return words;
    }

private:
    struct Frame {
        Key key;
        std::map<std::uint32_t, std::uint64_t> count_by_line;
    };
    static std::uint32_t hottest_line(const Frame& frame) {
        std::pair<std::uint64_t, std::uint32_t> hottest;
        for (const auto& [line, count] : frame.count_by_line) {
            if (line != 0 && count > hottest.first) hottest = {count, line};
        }
        return hottest.second;
    }

    std::map<Key, std::uint32_t> number_by_key_;
    std::vector<Frame> frames_;
};

// All stacks as one tree from the roots up; a node comes behind its parent.
class Nodes {
public:
    static constexpr std::uint32_t kNoParent = UINT32_MAX;

    std::uint32_t child_of(std::uint32_t parent, std::uint32_t frame) {
        const auto number = static_cast<std::uint32_t>(words_.size() / 2);
        const auto [found, is_new] =
            number_by_place_.try_emplace(std::uint64_t{parent} << 32 | frame, number);
        if (is_new) {
            words_.push_back(parent == kNoParent ? 0 : number - parent);
            words_.push_back(frame);
        }
        return found->second;
    }
    [[nodiscard]] const std::vector<std::uint32_t>& words() const { return words_; }

private:
    std::unordered_map<std::uint64_t, std::uint32_t> number_by_place_;
    std::vector<std::uint32_t> words_;
};

class ViewWriter {
public:
    explicit ViewWriter(const symbolize::NamedProfile& profile) : profile_(profile) {}

    std::string write() {
        for (const symbolize::NamedStack& stack : profile_.stacks) add(stack);
        const nlohmann::json view{{"period_ns", profile_.period.count()},
                                  {"duration_ns", profile_.duration.count()},
                                  {"comments", profile_.comments},
                                  {"strings", strings_.take()},
                                  {"frames", frames_.words()},
                                  {"nodes", nodes_.words()},
                                  {"owners", owners_},
                                  {"samples", samples_}};
        // Names in a file are any bytes.
        return view.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }

private:
    using Owner = std::array<std::uint32_t, 4>;  // process, thread, unit, cpu

    void add(const symbolize::NamedStack& stack) {
        std::uint32_t node = nodes_.child_of(Nodes::kNoParent, process_of(stack));
        for (const std::uint32_t index : std::views::reverse(stack.locations)) {
            const symbolize::Location& location = profile_.locations[index];
            for (std::size_t i = location.lines.size(); i-- > 0;) {
                node = nodes_.child_of(node, frame_of(location, i, stack.count));
            }
        }
        samples_.push_back(node);
        samples_.push_back(owner_of(stack.labels));
        samples_.push_back(stack.count);
    }

    std::uint32_t number_of(std::string_view text) {
        return static_cast<std::uint32_t>(strings_.index_of(text));
    }

    std::uint32_t process_of(const symbolize::NamedStack& stack) {
        const std::string& comm = stack.labels.comm;
        const std::uint32_t name = number_of(comm.empty() ? "[unknown]" : comm);
        const std::uint32_t nothing = number_of("");
        return frames_.number_of({name, nothing, nothing, kProcess}, 0, stack.count);
    }

    std::uint32_t frame_of(const symbolize::Location& location, std::size_t line_index,
                           std::uint64_t count) {
        const symbolize::Line& line = location.lines[line_index];
        const symbolize::Function& function = profile_.functions[line.function];
        std::uint32_t flags = location.is_kernel ? kKernel : 0;
        if (line_index + 1 < location.lines.size()) flags |= kInlined;
        if (!location.is_named) flags |= kUnnamed;
        const std::string& module = location.mapping < profile_.mappings.size()
                                        ? profile_.mappings[location.mapping].file
                                        : std::string();
        return frames_.number_of(
            {number_of(function.name), number_of(module), number_of(function.file), flags},
            line.line, count);
    }

    std::uint32_t owner_of(const symbolize::SampleLabels& labels) {
        const Owner owner{number_of(fmt::format("{} ({})", labels.comm, labels.pid)),
                          number_of(labels.thread), number_of(labels.unit),
                          number_of(std::to_string(labels.cpu))};
        const auto [found, is_new] =
            number_by_owner_.try_emplace(owner, static_cast<std::uint32_t>(owners_.size() / 4));
        if (is_new) owners_.insert(owners_.end(), owner.begin(), owner.end());
        return found->second;
    }

    const symbolize::NamedProfile& profile_;
    StringTable strings_;
    Frames frames_;
    Nodes nodes_;
    std::map<Owner, std::uint32_t> number_by_owner_;
    std::vector<std::uint32_t> owners_;
    std::vector<std::uint64_t> samples_;
};

}  // namespace

std::string encode_view_json(const symbolize::NamedProfile& profile) {
    return ViewWriter(profile).write();
}

}  // namespace bobbin::profile

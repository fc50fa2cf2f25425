// SPDX-License-Identifier: Apache-2.0
#include "support/profile_readers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <charconv>
#include <fstream>
#include <sstream>
#include <vector>

#include "support/child_process.h"

namespace bobbin::test {
namespace {

std::uint64_t number_of(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    EXPECT_TRUE(failure == std::errc() && end == text.data() + text.size())
        << "not a number: " << text;
    return value;
}

std::vector<std::string> words_of(std::string_view text) {
    std::istringstream stream{std::string(text)};
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

bool cut_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

std::string file_name(std::string_view path) {
    return std::string(path.substr(path.rfind('/') + 1));
}

// What pprof prints, section by section (github.com/google/pprof, profile.Profile.String):
//   Comment: text            PeriodType: cpu nanoseconds            Period: 1010101
//   Samples:
//   samples/count cpu/nanoseconds
//            3    3030303: 4 2 1                location ids, leaf first
//                  comm:[known_chain]           labels; then those with numbers
//   Locations
//        1: 0x1139 M=1 main /src/a.c:12:0 s=0(main)
//   Mappings
//   1: 0x1000/0x2000/0x1000 /usr/bin/x BUILDID [FN]
class RawText {
public:
    ProfileText read(const std::string& text) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) take(line);
        ProfileText profile = std::move(profile_);
        for (std::size_t i = 0; i < profile.stacks.size(); ++i)
            profile.stacks[i].frames = frames_at(location_ids_[i]);
        return profile;
    }

private:
    enum class Section { kHead, kSampleTypes, kSamples, kLocations, kMappings };
    struct LocationText {
        std::uint64_t mapping = 0;
        std::vector<std::string> functions;
    };

    void take(std::string_view line) {
        if (line == "Samples:") {
            section_ = Section::kSampleTypes;
        } else if (line == "Locations") {
            section_ = Section::kLocations;
        } else if (line == "Mappings") {
            section_ = Section::kMappings;
        } else {
            take_inside(line);
        }
    }

    void take_inside(std::string_view line) {
        switch (section_) {
            case Section::kHead:
                if (cut_prefix(line, "Comment: ")) profile_.comments.emplace_back(line);
                if (cut_prefix(line, "Period: ")) profile_.period = number_of(line);
                break;
            case Section::kSampleTypes:
                take_sample_types(line);
                section_ = Section::kSamples;
                break;
            case Section::kSamples:
                line.starts_with("                ") ? take_labels(line) : take_sample(line);
                break;
            case Section::kLocations:
                take_location(line);
                break;
            case Section::kMappings:
                take_mapping(line);
                break;
        }
    }

    // "samples/count cpu/nanoseconds[dflt]"; the mark is the type that pprof shows first.
    void take_sample_types(std::string_view line) {
        for (const std::string& word : words_of(line))
            profile_.sample_types.push_back(word.substr(0, word.find('[')));
    }

    void take_sample(std::string_view line) {
        const std::size_t colon = line.find(':');
        ASSERT_NE(colon, std::string_view::npos) << line;
        Stack stack;
        const std::vector<std::string> values = words_of(line.substr(0, colon));
        stack.count = number_of(values.at(0));
        if (values.size() > 1) stack.value = number_of(values[1]);
        profile_.stacks.push_back(stack);
        std::vector<std::uint64_t>& ids = location_ids_.emplace_back();
        for (const std::string& word : words_of(line.substr(colon + 1)))
            ids.push_back(number_of(word));
    }

    // key:[value] key:[12 unit]; a value may hold spaces, a key does not. A number without a unit
    // gets its key for one.
    void take_labels(std::string_view line) {
        while (true) {
            const std::size_t open = line.find(":[");
            const std::size_t close = line.find(']', open);
            if (open == std::string_view::npos || close == std::string_view::npos) return;
            std::string_view key = line.substr(0, open);
            key.remove_prefix(key.find_last_of(' ') + 1);
            std::string value(line.substr(open + 2, close - open - 2));
            if (value.ends_with(fmt::format(" {}", key))) value.resize(value.rfind(' '));
            profile_.stacks.back().labels[std::string(key)] = value;
            line.remove_prefix(close + 1);
        }
    }

    void take_location(std::string_view line) {
        std::string_view rest = line.substr(std::min(line.find_first_not_of(' '), line.size()));
        const bool is_further_inlined_line = line.starts_with("             ");
        if (!is_further_inlined_line) {
            const std::size_t colon = rest.find(": ");
            ASSERT_NE(colon, std::string_view::npos) << line;
            last_location_ = number_of(rest.substr(0, colon));
            rest.remove_prefix(rest.find("M=") == std::string_view::npos ? rest.size()
                                                                         : rest.find("M=") + 2);
            const std::size_t space = std::min(rest.find(' '), rest.size());
            locations_[last_location_].mapping = number_of(rest.substr(0, space));
            rest.remove_prefix(std::min(space + 1, rest.size()));
        }
        // "NAME FILE:LINE[:COLUMN] s=START[(SYSTEM NAME)]"; NAME may hold spaces, FILE may be
        // empty.
        const std::size_t start_line = rest.find(" s=");
        if (start_line == std::string_view::npos) return;
        const std::size_t file = rest.rfind(' ', start_line - 1);
        locations_[last_location_].functions.emplace_back(rest.substr(0, file));
    }

    void take_mapping(std::string_view line) {
        const std::size_t colon = line.find(": ");
        if (colon == std::string_view::npos) return;
        const std::vector<std::string> words = words_of(line.substr(colon + 2));
        const std::uint64_t id = number_of(words_of(line.substr(0, colon)).at(0));
        mappings_[id] = words.size() > 1 ? file_name(words[1]) : std::string();
    }

    std::vector<Frame> frames_at(const std::vector<std::uint64_t>& ids) {
        std::vector<Frame> frames;
        for (const std::uint64_t id : ids) {
            const LocationText& location = locations_[id];
            const std::string& module = mappings_[location.mapping];
            for (const std::string& function : location.functions)
                frames.push_back({function, module, module.starts_with("[kernel"), true});
            if (!location.functions.empty()) frames.back().is_inlined = false;
        }
        return frames;
    }

    Section section_ = Section::kHead;
    ProfileText profile_;
    std::vector<std::vector<std::uint64_t>> location_ids_;
    std::map<std::uint64_t, LocationText> locations_;
    std::map<std::uint64_t, std::string> mappings_;
    std::uint64_t last_location_ = 0;
};

}  // namespace

std::string read_whole_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.is_open()) << path;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string run_pprof(std::string_view option, const std::filesystem::path& path) {
    const FinishedProcess pprof =
        run_process({BOBBIN_PPROF, "-symbolize=none", std::string(option), path.string()});
    EXPECT_EQ(pprof.exit_status, 0) << "go tool pprof " << option << "\n" << pprof.standard_error;
    return pprof.standard_output;
}

ProfileText read_pprof(const std::filesystem::path& path) {
    return RawText().read(run_pprof("-raw", path));
}

ProfileText read_folded(const std::filesystem::path& path) {
    ProfileText profile;
    std::istringstream lines(read_whole_file(path));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t space = line.rfind(' ');
        EXPECT_NE(space, std::string::npos) << line;
        if (space == std::string::npos) continue;
        Stack stack;
        stack.count = number_of(std::string_view(line).substr(space + 1));
        std::istringstream names(line.substr(0, space));
        std::getline(names, stack.labels["comm"], ';');
        for (std::string name; std::getline(names, name, ';');)
            stack.frames.insert(stack.frames.begin(), {name, "", name.ends_with("_[k]")});
        profile.stacks.push_back(std::move(stack));
    }
    return profile;
}

}  // namespace bobbin::test

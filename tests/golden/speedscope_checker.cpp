// SPDX-License-Identifier: Apache-2.0
#include "golden/speedscope_checker.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace bobbin::test {
namespace {

using nlohmann::json;

class Checker {
public:
    std::vector<std::string> check(const json& file) {
        members(file, "file", {{"$schema", "string"}, {"shared", "object"}, {"profiles", "array"}},
                {{"name", "string"}, {"exporter", "string"}, {"activeProfileIndex", "number"}});
        if (!problems_.empty()) return problems_;
        demand(file["$schema"] == "https://www.speedscope.app/file-format-schema.json", "$schema");
        members(file["shared"], "shared", {{"frames", "array"}}, {});
        if (!problems_.empty()) return problems_;
        for (const json& frame : file["shared"]["frames"]) {
            members(frame, "frame", {{"name", "string"}},
                    {{"file", "string"}, {"line", "number"}, {"col", "number"}});
        }
        frame_count_ = file["shared"]["frames"].size();
        for (const json& profile : file["profiles"]) check_sampled(profile);
        const std::size_t active = file.value("activeProfileIndex", 0U);
        demand(file["profiles"].empty() || active < file["profiles"].size(), "activeProfileIndex");
        return problems_;
    }

private:
    using Members = std::map<std::string, std::string>;  // JSON's name of the type

    void demand(bool holds, const std::string& what) {
        if (!holds) problems_.push_back(what);
    }

    void members(const json& object, const std::string& where, const Members& required,
                 const Members& optional) {
        if (!object.is_object()) return demand(false, where + " is no object");
        for (const auto& [name, type] : required) demand(object.contains(name), where + "." + name);
        for (const auto& [name, value] : object.items()) {
            const bool is_required = required.contains(name);
            if (!is_required && !optional.contains(name)) {
                demand(false, where + " has a member " + name);
                continue;
            }
            const std::string& type = is_required ? required.at(name) : optional.at(name);
            demand(value.type_name() == type, where + "." + name + " is " + value.type_name());
        }
    }

    void check_sampled(const json& profile) {
        members(profile, "profile",
                {{"type", "string"},
                 {"name", "string"},
                 {"unit", "string"},
                 {"startValue", "number"},
                 {"endValue", "number"},
                 {"samples", "array"},
                 {"weights", "array"}},
                {});
        if (!problems_.empty()) return;
        static const std::set<std::string> kUnits = {"bytes",       "microseconds", "milliseconds",
                                                     "nanoseconds", "none",         "seconds"};
        demand(profile["type"] == "sampled", "profile.type");
        demand(kUnits.contains(profile["unit"]), "profile.unit");
        demand(profile["samples"].size() == profile["weights"].size(), "one weight a sample");
        double sum = 0;
        for (const json& weight : profile["weights"]) {
            demand(weight.is_number() && weight >= 0, "weight " + weight.dump());
            sum += weight.is_number() ? weight.get<double>() : 0;
        }
        const double length =
            profile["endValue"].get<double>() - profile["startValue"].get<double>();
        demand(length >= sum, "profile.endValue lies before the end of its samples");
        for (const json& sample : profile["samples"]) check_sample(sample);
    }

    void check_sample(const json& sample) {
        if (!sample.is_array()) return demand(false, "a sample is no array");
        for (const json& frame : sample) {
            demand(frame.is_number_unsigned() && frame.get<std::size_t>() < frame_count_,
                   "a sample's frame " + frame.dump());
        }
    }

    std::vector<std::string> problems_;
    std::size_t frame_count_ = 0;
};

}  // namespace

std::vector<std::string> check_speedscope(const std::string& text) {
    const json file = json::parse(text, nullptr, false);
    if (file.is_discarded()) return {"not JSON"};
    return Checker().check(file);
}

}  // namespace bobbin::test

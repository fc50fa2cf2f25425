// SPDX-License-Identifier: Apache-2.0
#include "golden/firefox_checker.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace bobbin::test {
namespace {

using nlohmann::json;

// Of a column: what its values are, and what they count into.
struct Column {
    const char* name;
    const char* kind;  // "number", "boolean", "null", "index", "index or null", "index or -1"
    std::size_t bound = 0;
};

class Checker {
public:
    std::vector<std::string> check(const json& file) {
        for (const char* name :
             {"meta", "libs", "pages", "counters", "profilerOverhead", "threads"})
            demand(file.contains(name), name);
        if (!problems_.empty()) return problems_;
        check_meta(file["meta"]);
        lib_count_ = file["libs"].size();
        for (const json& lib : file["libs"]) check_lib(lib);
        std::set<std::string> tids;
        for (const json& thread : file["threads"]) {
            check_thread(thread);
            demand(tids.insert(thread.value("tid", json()).dump()).second, "tid twice");
        }
        return problems_;
    }

private:
    void demand(bool holds, const std::string& what) {
        if (!holds) problems_.push_back(what);
    }

    void check_meta(const json& meta) {
        demand(meta["preprocessedProfileVersion"] == 55, "meta.preprocessedProfileVersion");
        demand(meta["version"].is_number(), "meta.version");
        demand(meta["interval"].is_number() && meta["interval"] > 0, "meta.interval");
        demand(meta["startTime"].is_number(), "meta.startTime");
        demand(meta["processType"] == 0, "meta.processType");
        demand(meta["product"].is_string(), "meta.product");
        demand(meta["stackwalk"] == 1, "meta.stackwalk");
        demand(meta["symbolicated"] == true, "meta.symbolicated: it would be symbolicated again");
        demand(meta["markerSchema"].is_array(), "meta.markerSchema");
        demand(meta["extensions"]["length"] == 0, "meta.extensions");
        bool has_grey = false;
        for (const json& category : meta["categories"]) {
            has_grey = has_grey || category["color"] == "grey";
            demand(category["name"].is_string(), "category.name");
            demand(category["subcategories"].is_array() && !category["subcategories"].empty(),
                   "category.subcategories");
        }
        demand(has_grey, "meta.categories: the default is the grey one");
        category_count_ = meta["categories"].size();
    }

    void check_lib(const json& lib) {
        for (const char* name : {"name", "path", "debugName", "debugPath", "breakpadId"})
            demand(lib.contains(name) && lib[name].is_string(), std::string("lib.") + name);
        const std::string id = lib.value("breakpadId", "");
        demand(id.size() == 33 && id.find_first_not_of("0123456789ABCDEF") == std::string::npos,
               "lib.breakpadId " + id);
        demand(lib.contains("codeId") && (lib["codeId"].is_null() || lib["codeId"].is_string()),
               "lib.codeId");
        demand(lib.contains("arch"), "lib.arch");
    }

    bool fits(const json& value, const Column& column) {
        const std::string kind = column.kind;
        if (value.is_null()) return kind.ends_with("null");
        if (kind == "number") return value.is_number();
        if (kind == "number or null") return value.is_number();
        if (kind == "boolean") return value.is_boolean();
        if (kind == "index or -1" && value == -1) return true;
        return kind.starts_with("index") && value.is_number_unsigned() &&
               value.get<std::size_t>() < column.bound;
    }

    void check_table(const json& thread, const std::string& name,
                     const std::vector<Column>& columns, const std::set<std::string>& others = {}) {
        if (!thread.contains(name)) return demand(false, "thread." + name);
        const json& table = thread[name];
        const std::size_t length = table.value("length", std::size_t{0});
        std::set<std::string> known = others;
        known.insert("length");
        for (const Column& column : columns) {
            known.insert(column.name);
            const std::string where = name + "." + column.name;
            if (!table.contains(column.name)) {
                demand(false, where);
                continue;
            }
            demand(table[column.name].size() == length, where + " has another length");
            for (const json& value : table[column.name])
                demand(fits(value, column), where + " holds " + value.dump());
        }
        for (const auto& [member, value] : table.items())
            demand(known.contains(member), name + " has a column " + member);
    }

    void check_thread(const json& thread) {
        demand(thread["pid"].is_string(), "thread.pid");
        demand(thread["tid"].is_number(), "thread.tid");
        demand(thread["name"].is_string() && thread["processName"].is_string(), "thread.name");
        demand(thread["processType"] == "default", "thread.processType");
        demand(thread["isMainThread"].is_boolean(), "thread.isMainThread");
        demand(thread["registerTime"].is_number(), "thread.registerTime");
        demand(thread["processStartupTime"].is_number(), "thread.processStartupTime");
        demand(thread["pausedRanges"].is_array(), "thread.pausedRanges");
        for (const char* name : {"unregisterTime", "processShutdownTime"})
            demand(thread.contains(name), std::string("thread.") + name);
        const std::size_t strings = thread["stringArray"].size();
        for (const json& text : thread["stringArray"]) demand(text.is_string(), "stringArray");
        const auto length = [&](const char* table) {
            return thread[table].value("length", std::size_t{0});
        };
        check_table(thread, "stackTable",
                    {{"prefix", "index or null", length("stackTable")},
                     {"frame", "index", length("frameTable")}});
        for (std::size_t i = 0; i < length("stackTable"); ++i) {
            const json& prefix = thread["stackTable"]["prefix"][i];
            demand(prefix.is_null() || prefix < i, "stackTable.prefix lies behind its stack");
        }
        check_table(thread, "frameTable",
                    {{"address", "number"},
                     {"inlineDepth", "number"},
                     {"category", "index or null", category_count_},
                     {"subcategory", "number or null"},
                     {"func", "index", length("funcTable")},
                     {"nativeSymbol", "index or null", length("nativeSymbols")},
                     {"innerWindowID", "number or null"},
                     {"line", "number or null"},
                     {"column", "number or null"}});
        check_table(thread, "funcTable",
                    {{"name", "index", strings},
                     {"isJS", "boolean"},
                     {"relevantForJS", "boolean"},
                     {"resource", "index or -1", length("resourceTable")},
                     {"fileName", "index or null", strings},
                     {"lineNumber", "number or null"},
                     {"columnNumber", "number or null"}});
        check_table(thread, "resourceTable",
                    {{"lib", "index or null", lib_count_},
                     {"name", "index", strings},
                     {"host", "index or null", strings},
                     {"type", "number"}});
        check_table(thread, "nativeSymbols",
                    {{"address", "number"},
                     {"functionSize", "number or null"},
                     {"libIndex", "index", lib_count_},
                     {"name", "index", strings}});
        check_table(thread, "markers",
                    {{"category", "number"},
                     {"data", "null"},
                     {"endTime", "number"},
                     {"name", "number"},
                     {"phase", "number"},
                     {"startTime", "number"}});
        check_samples(thread, length("stackTable"));
    }

    void check_samples(const json& thread, std::size_t stack_count) {
        std::vector<Column> columns = {
            {"stack", "index or null", stack_count}, {"time", "number"}, {"weight", "number"}};
        if (thread["samples"].contains("threadCPUDelta"))
            columns.push_back({"threadCPUDelta", "number or null"});
        check_table(thread, "samples", columns, {"weightType"});
        static const std::set<std::string> kWeights = {"samples", "tracing-ms", "bytes"};
        demand(kWeights.contains(thread["samples"].value("weightType", "")), "weightType");
        const json& times = thread["samples"]["time"];
        demand(std::ranges::is_sorted(times), "samples.time goes back");
    }

    std::vector<std::string> problems_;
    std::size_t lib_count_ = 0;
    std::size_t category_count_ = 0;
};

}  // namespace

std::vector<std::string> check_firefox(const std::string& text) {
    const json file = json::parse(text, nullptr, false);
    if (file.is_discarded()) return {"not JSON"};
    return Checker().check(file);
}

}  // namespace bobbin::test

// SPDX-License-Identifier: Apache-2.0
#include "service/http_query.h"

#include <charconv>
#include <string_view>

#include "cli/report_arguments.h"
#include "config/parse_duration.h"

namespace bobbin::service {
namespace {

constexpr const char* kDefaultSince = "-1h";
constexpr std::chrono::seconds kLongestLast = std::chrono::days{31};

Failure explain(const char* name, const std::string& text, const Error& error) {
    return fail("{}={}: {}", name, text, error.message());
}

}  // namespace

Result<store::Range> read_range(const serve::HttpFields& query, store::Time now) {
    const std::string* const since = query.find("since");
    const std::string* const until = query.find("until");
    const std::string begin_text = since != nullptr ? *since : kDefaultSince;
    const auto begin = store::parse_time(begin_text, now);
    if (!begin) return explain("since", begin_text, begin.error());
    store::Range range{.begin = *begin, .end = now};
    if (until != nullptr) {
        const auto end = store::parse_time(*until, now);
        if (!end) return explain("until", *until, end.error());
        range.end = *end;
    }
    if (range.end <= range.begin) return fail("until is not after since");
    return range;
}

Result<store::Where> read_where(const serve::HttpFields& query) {
    store::Where where;
    if (const std::string* const text = query.find("where"); text != nullptr && !text->empty()) {
        auto parsed = store::Where::parse(*text);
        if (!parsed) return explain("where", *text, parsed.error());
        where = std::move(*parsed);
    }
    for (const auto& [name, value] : query.all()) {
        if (name == "unit" && !value.empty()) where.add_unit(value);
    }
    return where;
}

Result<ProfileQuestion> read_profile_question(const serve::HttpFields& query, store::Time now) {
    ProfileQuestion question;
    BOBBIN_TRY(question.where, read_where(query));
    if (query.find("last") != nullptr) {
        BOBBIN_TRY(question.last, read_time(query, "last", {}, kLongestLast));
        return question;
    }
    BOBBIN_TRY(question.range, read_range(query, now));
    return question;
}

Result<std::chrono::nanoseconds> read_time(const serve::HttpFields& query, const char* name,
                                           std::chrono::nanoseconds fallback,
                                           std::chrono::nanoseconds longest) {
    const std::string* const text = query.find(name);
    if (text == nullptr) return fallback;
    const auto time = config::parse_duration(*text);
    if (!time) return explain(name, *text, time.error());
    if (*time > longest) {
        return fail("{}={}: at most {} seconds", name, *text,
                    std::chrono::duration_cast<std::chrono::seconds>(longest).count());
    }
    return *time;
}

Result<std::uint32_t> read_number(const serve::HttpFields& query, const char* name,
                                  std::uint32_t fallback, std::uint32_t most) {
    const std::string* const text = query.find(name);
    if (text == nullptr) return fallback;
    std::uint32_t number = 0;
    const char* const text_end = text->data() + text->size();
    const auto [end, problem] = std::from_chars(text->data(), text_end, number);
    if (problem != std::errc{} || end != text_end || number == 0 || number > most) {
        return fail("{}={}: a number from 1 to {}", name, *text, most);
    }
    return number;
}

Result<cli::ReportCommand> read_report(const serve::HttpFields& query) {
    cli::SplitArguments arguments;
    arguments.rest = {"store"};  // what the answer calls its file
    for (const char* const name : {"by", "top", "sort", "focus", "ignore", "hide", "show-from"}) {
        if (const std::string* const value = query.find(name)) arguments.values[name] = {*value};
    }
    auto command = cli::read_report_arguments(*cli::find_verb("report"), arguments);
    if (!command) return fail("{}; {}", command.error().what, command.error().why);
    return std::move(*command);
}

bool is_from_elsewhere(const serve::HttpRequest& request) {
    const std::string* const host = request.headers.find("Host");
    const std::string* const origin = request.headers.find("Origin");
    if (origin != nullptr && (host == nullptr || *origin != "http://" + *host)) return true;
    const std::string* const site = request.headers.find("Sec-Fetch-Site");
    if (site == nullptr || *site == "same-origin" || *site == "none") return false;
    const std::string* const what = request.headers.find("Sec-Fetch-Dest");
    const bool is_link = request.method == "GET" && what != nullptr && *what == "document";
    return !is_link || request.path != "/ui/";
}

}  // namespace bobbin::service

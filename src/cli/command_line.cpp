// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <fmt/core.h>
#include <signal.h>

#include <cerrno>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/parse_number.h"
#include "cli/argument_reader.h"
#include "cli/convert.h"
#include "cli/ctl.h"
#include "cli/daemon_arguments.h"
#include "cli/diff.h"
#include "cli/push.h"
#include "cli/query.h"
#include "cli/record_arguments.h"
#include "cli/report_arguments.h"
#include "cli/split_arguments.h"
#include "cli/standard_output.h"
#include "cli/system_facts.h"
#include "cli/terminal_text.h"
#include "cli/top_arguments.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "config/debuginfod_urls.h"

namespace bobbin::cli {
namespace {

constexpr std::string_view kVersionText = "bobbin " BOBBIN_VERSION "\n";

UserError unknown_verb(const std::string& typed) {
    const std::optional<std::string> meant = nearest_verb(typed);
    std::string why = meant ? fmt::format("did you mean {}?", *meant) : std::string();
    if (!meant) {
        why = "the verbs are";
        for (const Verb& verb : all_verbs()) why += fmt::format(" {}", verb.name);
    }
    return usage_error(nullptr, fmt::format("unknown verb {}", shell_quote(typed)), why);
}

Understood understand_flag_before_verb(const std::string& typed) {
    if (typed == "-h" || typed == "--help") return Answer{help_text()};
    if (typed == "-V" || typed == "--version") return Answer{std::string(kVersionText)};
    const std::optional<std::string> meant = nearest_flag(program_flags(), typed);
    return usage_error(nullptr, fmt::format("unknown flag {}", shell_quote(typed)),
                       meant ? fmt::format("did you mean {}?", *meant)
                             : "a verb comes first: bobbin record -F 99");
}

Understood understand_help(std::span<const std::string> words) {
    if (words.empty()) return Answer{help_text()};
    const Verb* const verb = find_verb(words.front());
    if (verb == nullptr) return unknown_verb(words.front());
    return Answer{help_text(*verb)};
}

template <class T>
Understood give(tl::expected<T, UserError> command) {
    if (!command) return std::move(command).error();
    return std::move(*command);
}

// "0x401000" or "4198400".
Result<std::uint64_t> parse_address(std::string_view text) {
    const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
    if (is_hex) text.remove_prefix(2);
    const auto address = parse_number<std::uint64_t>(text, is_hex ? 16 : 10);
    if (!address) return fail("addresses are like 0x401000 or 4198400");
    return *address;
}

tl::expected<DoctorCommand, UserError> read_doctor(const Verb& verb,
                                                   const SplitArguments& arguments) {
    ArgumentReader reader(verb, arguments);
    reader.expect_no_words();
    return reader.give(DoctorCommand{arguments.has("json")});
}

tl::expected<ObjectInfoCommand, UserError> read_object_info(const Verb& verb,
                                                            const SplitArguments& arguments) {
    ArgumentReader reader(verb, arguments);
    return reader.give(ObjectInfoCommand{reader.path({}), arguments.has("json")});
}

tl::expected<ShowUnwindCommand, UserError> read_show_unwind(const Verb& verb,
                                                            const SplitArguments& arguments) {
    ArgumentReader reader(verb, arguments);
    return reader.give(
        ShowUnwindCommand{reader.path({}), reader.value("pc", "an address", parse_address)});
}

// The thread group of a thread, from its status file.
std::optional<pid_t> read_process_of(pid_t pid) {
    std::ifstream status(fmt::format("/proc/{}/status", pid));
    for (std::string key; status >> key;) {
        pid_t process = 0;
        if (key == "Tgid:" && status >> process) return process;
    }
    // With hidepid a process of another user has no folder in /proc, but still refuses signals.
    if (::kill(pid, 0) == 0 || errno == EPERM) return pid;
    return std::nullopt;
}

}  // namespace

Surroundings this_machine(std::span<const std::string> invocation) {
    const SystemFacts facts = read_system_facts();
    Surroundings machine{.max_sample_rate_hz = facts.perf_event_max_sample_rate_hz,
                         .process_of = read_process_of,
                         .cgroup_tree = sampler::CgroupTree::open,
                         .debuginfod_urls = config::find_debuginfod_urls()};
    if (!facts.may_record()) machine.rights_missing = explain_not_root(facts, invocation);
    return machine;
}

Understood understand(std::span<const std::string> arguments, const Surroundings& surroundings) {
    if (arguments.empty()) {
        UserError missing = unknown_verb({});
        missing.what = "a verb is missing";
        return missing;
    }
    const std::string& first = arguments.front();
    const std::span<const std::string> others = arguments.subspan(1);
    if (first.starts_with('-')) return understand_flag_before_verb(first);
    if (first == "help") return understand_help(others);
    const Verb* const verb = find_verb(first);
    if (verb == nullptr) return unknown_verb(first);

    auto split = split_arguments(*verb, others);
    if (!split) return std::move(split).error();
    if (split->has("help")) return Answer{help_text(*verb)};
    if (verb->name == "top") return give(read_top_arguments(*verb, *split, surroundings));
    if (verb->name == "report") return give(read_report_arguments(*verb, *split));
    if (verb->name == "diff") return give(read_diff_arguments(*verb, *split));
    if (verb->name == "view") return give(read_view_arguments(*verb, *split));
    if (verb->name == "convert") return give(read_convert_arguments(*verb, *split));
    if (verb->name == "explain") return give(read_explain_arguments(*verb, *split));
    if (verb->name == "daemon") return give(read_daemon_arguments(*verb, *split));
    if (verb->name == "query") return give(read_query_arguments(*verb, *split));
    if (verb->name == "ctl") return give(read_ctl_arguments(*verb, *split));
    if (verb->name == "push") return give(read_push_arguments(*verb, *split));
    if (verb->name == "doctor") return give(read_doctor(*verb, *split));
    if (verb->name == "object-info") return give(read_object_info(*verb, *split));
    if (verb->name == "show-unwind") return give(read_show_unwind(*verb, *split));
    return give(read_record_arguments(*verb, *split, surroundings));
}

Command parse_command_line(int argc, const char* const* argv) {
    const std::vector<std::string> invocation(argv, argv + argc);
    const std::span arguments = std::span(invocation).subspan(invocation.empty() ? 0 : 1);
    Understood understood = understand(arguments, this_machine(invocation));
    return std::visit(
        [](auto&& result) -> Command {
            using Kind = std::decay_t<decltype(result)>;
            if constexpr (std::is_same_v<Kind, Answer>) {
                return Finished{answer(result.text)};
            } else if constexpr (std::is_same_v<Kind, UserError>) {
                print(result);
                return Finished{result.exit_status};
            } else {
                return std::forward<decltype(result)>(result);
            }
        },
        std::move(understood));
}

}  // namespace bobbin::cli

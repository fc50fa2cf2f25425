// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace bobbin::cli {
namespace {

constexpr Flag kHelp{"h", "help", "", "show this text"};

constexpr std::array kRecordFlags{
    Flag{"F", "frequency", "HZ", "samples a second on each CPU: 1 to 10000, or max [99]"},
    Flag{"d", "duration", "DURATION", "stop after 10 (seconds), 500ms, 1m30s, 2h"},
    Flag{
        "o", "output", "FILE",
        "write .html (a page to look at), .pb.gz or .pprof (pprof), .folded (flame-graph tools), - "
        "(pprof to standard output); may be given many times [profile.pb.gz, profile.html]"},
    Flag{"a", "all", "", "the whole machine, also while a command runs"},
    Flag{"p", "pid", "PID[,PID]", "these processes, their threads and their children"},
    Flag{"t", "tid", "TID[,TID]", "these threads"},
    Flag{"G", "cgroup", "PATH", "this cgroup and all below: /sys/fs/cgroup/a or a"},
    Flag{"u", "unit", "NAME", "this systemd unit: nginx, session-2.scope, user.slice"},
    Flag{"", "container", "ID",
         "containers whose id or machine name begins so (docker, podman, containerd, nspawn, LXC)"},
    Flag{"", "comm", "NAME",
         "threads of this name, of which 15 bytes count; NAME* for all that begin so"},
    Flag{"U", "user-only", "", "only user-mode frames"},
    Flag{"K", "kernel-only", "", "only kernel-mode frames"},
    Flag{"", "max-unwind-memory", "SIZE",
         "memory of unwind tables in the kernel: 64M, or bytes [256M]"},
    Flag{"", "max-memory", "SIZE", "memory of bobbin itself [512M]"},
    Flag{"q", "quiet", "", "no progress and no summary, errors only"},
    kHelp,
};
constexpr std::array kDoctorFlags{
    Flag{"", "json", "", "for programs"},
    kHelp,
};
constexpr std::array kObjectInfoFlags{
    Flag{"", "json", "", "for programs"},
    kHelp,
};
constexpr std::array kShowUnwindFlags{
    Flag{"", "pc", "ADDRESS", "only the row that covers this address of the file (0x1234 or 4660)"},
    kHelp,
};
constexpr std::array kProgramFlags{
    kHelp,
    Flag{"V", "version", "", "show the version"},
};

constexpr std::array kVerbs{
    Verb{"record", "[OPTION]... [--] [COMMAND [ARG]...]", "profile until Ctrl-C or a command's end",
         "Samples what runs on the CPUs until COMMAND ends, the duration has passed or Ctrl-C is\n"
         "typed, and writes the profile. Of -p, -t, -G, -u, --container, --comm and COMMAND, each "
         "as\n"
         "often as you like, what agrees with any is sampled; without them the whole machine.\n"
         "When all of -p and -t are gone and nothing else was asked for, the recording ends.\n"
         "COMMAND runs as the user who called sudo; its exit status becomes bobbin's.\n"
         "Ctrl-C: once stops and writes, twice skips the names, three times writes nothing.",
         kRecordFlags, true},
    Verb{"doctor", "[--json]", "what this kernel and these rights allow",
         "Says line by line what recording needs of this machine, whether it is there, and how to\n"
         "get it. Exit status 0 when `bobbin record` would work, 77 when only rights are missing.",
         kDoctorFlags},
    Verb{"object-info", "ELF [--json]", "what bobbin knows of one file",
         "Shows identity, segments and unwind information of one executable or shared object.",
         kObjectInfoFlags},
    Verb{"show-unwind", "ELF [--pc ADDRESS]", "the unwind rules of one file",
         "Shows, for each range of addresses in the file, how a walk gets to the caller's frame.",
         kShowUnwindFlags},
};

constexpr std::size_t kHelpColumn = 32;
constexpr std::size_t kHelpWidth = 100;

// "  -F, --frequency HZ        text", the text broken at blanks and indented.
std::string describe_flag(const Flag& flag) {
    std::string line =
        flag.short_name.empty() ? std::string("      ") : fmt::format("  -{}, ", flag.short_name);
    line += fmt::format("--{}", flag.long_name);
    if (!flag.value_name.empty()) line += fmt::format(" {}", flag.value_name);
    line = fmt::format("{:<{}}", line, kHelpColumn);
    std::string_view text = flag.text;
    while (kHelpColumn + text.size() > kHelpWidth) {
        const std::size_t blank = text.rfind(' ', kHelpWidth - kHelpColumn);
        if (blank == std::string_view::npos) break;
        line += fmt::format("{}\n{:<{}}", text.substr(0, blank), "", kHelpColumn);
        text.remove_prefix(blank + 1);
    }
    return line + fmt::format("{}\n", text);
}

std::string describe_flags(std::span<const Flag> flags) {
    std::string text = "Options:\n";
    for (const Flag& flag : flags) text += describe_flag(flag);
    return text;
}

// Letters typed wrong, left out, added or swapped with their neighbour: optimal string alignment.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> rows(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = a[i - 1] == b[j - 1] ? 0 : 1;
            rows[i][j] =
                std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + changed});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows[a.size()][b.size()];
}

std::optional<std::string> nearest(std::span<const std::string_view> names,
                                   std::string_view typed) {
    constexpr std::size_t kLongestTyped = 64;  // bounds the table above
    std::optional<std::string> best;
    std::size_t best_distance = 0;
    if (typed.size() > kLongestTyped) return best;
    for (const std::string_view name : names) {
        const std::size_t distance = edit_distance(typed, name);
        if (distance > std::max<std::size_t>(1, name.size() / 3)) continue;
        if (best && distance >= best_distance) continue;
        best = name;
        best_distance = distance;
    }
    return best;
}

}  // namespace

std::span<const Verb> all_verbs() { return kVerbs; }
std::span<const Flag> program_flags() { return kProgramFlags; }

const Verb* find_verb(std::string_view name) {
    const auto* const found = std::find_if(kVerbs.begin(), kVerbs.end(),
                                           [&](const Verb& verb) { return verb.name == name; });
    return found == kVerbs.end() ? nullptr : found;
}

std::string help_text() {
    std::string text =
        "bobbin: a CPU profiler that sees every process of a machine, without frame pointers\n\n"
        "Usage: bobbin VERB [ARG]...\n\nVerbs:\n";
    for (const Verb& verb : kVerbs) text += fmt::format("  {:<13} {}\n", verb.name, verb.summary);
    text += fmt::format("  {:<13} {}\n\n", "help VERB", "how a verb is used");
    text += describe_flags(kProgramFlags);
    return text + "\nTo begin:  sudo bobbin record -d 10\n";
}

std::string help_text(const Verb& verb) {
    return fmt::format("Usage: bobbin {} {}\n\n{}\n\n", verb.name, verb.arguments, verb.text) +
           describe_flags(verb.flags);
}

std::optional<std::string> nearest_verb(std::string_view typed) {
    std::vector<std::string_view> names{"help"};
    for (const Verb& verb : kVerbs) names.push_back(verb.name);
    return nearest(names, typed);
}

std::optional<std::string> nearest_flag(std::span<const Flag> flags, std::string_view typed) {
    if (!typed.starts_with("--")) return std::nullopt;
    typed = typed.substr(2, typed.find('=') - std::min(typed.find('='), std::size_t{2}));
    std::vector<std::string_view> names;
    for (const Flag& flag : flags) names.push_back(flag.long_name);
    const std::optional<std::string> name = nearest(names, typed);
    return name ? std::optional("--" + *name) : std::nullopt;
}

}  // namespace bobbin::cli

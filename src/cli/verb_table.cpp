// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "cli/verbs.h"

namespace bobbin::cli {
namespace {

constexpr Flag kHelp{"h", "help", "", "show this text"};
constexpr Flag kJson{"", "json", "", "for programs"};
constexpr Flag kMarkdown{"", "md", "", "Markdown"};
// Of the verbs with nothing but an answer to a question.
constexpr std::array kAnswerFlags{kJson, kHelp};

// Of the verbs that show rows.
constexpr Flag kBy{"", "by", "WHAT",
                   "function, line, file, module, process, thread, unit, cpu, container or "
                   "label:KEY [function]"};
constexpr Flag kTop{"", "top", "N", "so many rows, 0 for all [30]"};

// Of the verbs that sample.
constexpr Flag kFrequency{"F", "frequency", "HZ",
                          "samples a second on each CPU: 1 to 10000, or max [99]"};
constexpr Flag kAll{"a", "all", "", "the whole machine, also while a command runs"};
constexpr Flag kPid{"p", "pid", "PID[,PID]", "these processes, their threads and their children"};
constexpr Flag kTid{"t", "tid", "TID[,TID]", "these threads"};
constexpr Flag kCgroup{"G", "cgroup", "PATH", "this cgroup and all below: /sys/fs/cgroup/a or a"};
constexpr Flag kUnit{"u", "unit", "NAME", "this systemd unit: nginx, session-2.scope, user.slice"};
constexpr Flag kContainer{
    "", "container", "ID",
    "containers whose id or machine name begins so (docker, podman, containerd, nspawn, LXC)"};
constexpr Flag kComm{"", "comm", "NAME",
                     "threads of this name, of which 15 bytes count; NAME* for all that begin so"};
constexpr Flag kUserOnly{"U", "user-only", "", "only user-mode frames"};
constexpr Flag kKernelOnly{"K", "kernel-only", "", "only kernel-mode frames"};
constexpr Flag kMaxUnwindMemory{"", "max-unwind-memory", "SIZE",
                                "memory of unwind tables in the kernel: 64M, or bytes [256M]"};
constexpr Flag kMaxMemory{"", "max-memory", "SIZE", "memory of bobbin itself [512M]"};
constexpr Flag kDemangle{
    "", "demangle", "STYLE",
    "names of C++, Rust and D: none (as in the symbol table), simplified (without parameters), "
    "full [simplified]"};

constexpr std::array kRecordFlags{
    kFrequency,
    Flag{"d", "duration", "DURATION", "stop after 10 (seconds), 500ms, 1m30s, 2h"},
    Flag{"o", "output", "FILE",
         "write .html (a page to look at), .pb.gz or .pprof (pprof), .folded (flame-graph tools), "
         ".speedscope.json, .firefox.json or .firefox.json.gz (profiler.firefox.com), .pftrace "
         "(Perfetto), - (pprof to standard output); may be given many times [profile.pb.gz, "
         "profile.html]"},
    kAll,
    kPid,
    kTid,
    kCgroup,
    kUnit,
    kContainer,
    kComm,
    kUserOnly,
    kKernelOnly,
    kDemangle,
    Flag{"", "debuginfod", "",
         "fetch missing debugging information of what was sampled most from debuginfod servers"},
    kMaxUnwindMemory,
    kMaxMemory,
    Flag{"q", "quiet", "", "no progress and no summary, errors only"},
    Flag{"", "json", "", "the summary at the end for programs, on standard output"},
    kHelp,
};
constexpr std::array kTopFlags{
    kFrequency,
    Flag{"", "interval", "DURATION", "show something new each 200ms to 10s [1s]"},
    Flag{"a", "all", "", "the whole machine, as without any target"},
    kPid,
    kTid,
    kCgroup,
    kUnit,
    kContainer,
    kComm,
    kUserOnly,
    kKernelOnly,
    kDemangle,
    kMaxUnwindMemory,
    kMaxMemory,
    kHelp,
};
constexpr std::array kReportFlags{
    kBy,
    Flag{"", "top", "N", "so many rows, 0 for all [30; a tree 300]"},
    Flag{"", "sort", "COLUMN", "self or total [self]"},
    Flag{"", "focus", "REGEX", "only stacks that come through what matches"},
    Flag{"", "ignore", "REGEX", "no stacks that come through what matches"},
    Flag{"", "hide", "REGEX", "stacks without the functions that match"},
    Flag{"", "show-from", "REGEX", "stacks from the outermost function that matches on"},
    Flag{"", "peek", "REGEX", "callers and callees of functions whose names match"},
    Flag{"", "tree", "", "who called whom, from the processes down"},
    Flag{"", "sample-type", "NAME", "of a file with several values the one of this name"},
    kJson,
    kMarkdown,
    kHelp,
};
constexpr std::array kDiffFlags{
    Flag{"o", "output", "FILE",
         "write .html (flame graph of both), .json or .md; may be given many times"},
    Flag{"", "fail-above", "SHARE",
         "exit 3 when a function grew by more than this and not by chance: 5%"},
    Flag{"", "min-share", "SHARE", "leave out functions that are smaller in both profiles [1%]"},
    Flag{"", "on", "WHAT", "compare the self or the total time of functions [self]"},
    Flag{"", "normalize", "HOW",
         "compare share (of all samples) or absolute (cores, CPU time a second) [share]"},
    kTop,
    kJson,
    kMarkdown,
    kHelp,
};
constexpr std::array kViewFlags{
    Flag{"", "port", "PORT", "serve on this port, 0 for one that is free [0]"},
    Flag{"", "address", "ADDRESS", "serve on this address of the machine [127.0.0.1]"},
    Flag{"", "no-open", "", "open no browser"},
    kHelp,
};
constexpr std::array kConvertFlags{
    Flag{"o", "output", "FILE",
         "write .html (a page), .pb.gz or .pprof (pprof), .folded (flame-graph tools), "
         ".speedscope.json, .firefox.json or .firefox.json.gz (profiler.firefox.com), .pftrace "
         "(Perfetto), - (pprof to standard output); may be given many times"},
    Flag{"", "sample-type", "NAME",
         "of a file with several values the one of this name; of perf script's text the event"},
    kHelp,
};
constexpr std::array kShowUnwindFlags{
    Flag{"", "pc", "ADDRESS", "only the row that covers this address of the file (0x1234 or 4660)"},
    kHelp,
};
// Of the verbs around the service.
constexpr Flag kConfig{"", "config", "FILE",
                       "the service's configuration [/etc/bobbin/bobbin.toml]"};

constexpr std::array kDaemonFlags{
    kConfig,
    Flag{"", "check-config", "", "only say whether the configuration is right"},
    kHelp,
};
constexpr std::array kQueryFlags{
    Flag{"", "since", "TIME", "from -1h, -7d, 10:30, \"2026-11-22 10:30\" on [-1h]"},
    Flag{"", "until", "TIME", "up to this time [now]"},
    Flag{"u", "unit", "NAME", "this systemd unit; may be given many times"},
    Flag{"", "where", "CONDITIONS",
         R"(only samples with these labels: 'comm=~"nginx.*", pid!="1"')"},
    Flag{"o", "output", "FILE", "write it, in the format of the ending, as record does"},
    Flag{"", "diff-with", "RANGE", "compare with this range of time: -25h..-24h"},
    kBy,
    kTop,
    Flag{"", "list", "", "show what is stored, a line each segment"},
    kJson,
    kConfig,
    Flag{"", "store", "PATH", "the store, whatever the configuration says"},
    kHelp,
};
constexpr std::array kPushFlags{
    Flag{"", "to", "URL",
         "pyroscope+http://host:4040, pyroscope+push+http://..., parca+http://host:7070, "
         "otlp+http://host:4318, "
         "s3+https://host/bucket/prefix or s3://bucket/prefix"},
    Flag{"", "label", "NAME=VALUE", "goes with every series; may be given many times"},
    Flag{"", "bearer-file", "FILE", "a file with a token, sent as Authorization: Bearer"},
    Flag{"", "region", "REGION", "of S3 [us-east-1]"},
    Flag{"", "credentials-file", "FILE", "of S3: a file with access key, colon, secret key"},
    kHelp,
};
constexpr std::array kCtlFlags{
    Flag{"", "last", "DURATION", "of snapshot: 10m, 1h [10m]"},
    Flag{"o", "output", "FILE", "of snapshot: write it, in the format of the ending"},
    Flag{"F", "frequency", "HZ", "of boost: samples a second on each CPU [199]"},
    Flag{"d", "duration", "DURATION", "of boost: for so long [60s]"},
    kJson,
    kConfig,
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
    Verb{"top", "[TARGET]... [OPTION]...", "live table and flame graph in the terminal",
         "Samples as `bobbin record` does and shows the last 10 seconds: which functions of which\n"
         "processes take the time. Keys: q quits, s sorts by self or total time, p shows "
         "processes, f\n"
         "the flame view (arrows move, Enter zooms, Backspace goes out), space pauses, / filters "
         "by a\n"
         "POSIX extended regular expression of function, process or module, ? shows this.",
         kTopFlags},
    Verb{"report", "FILE [--by WHAT] [OPTION]...", "what a profile says, as a table or a tree",
         "Reads a profile, also one that another program wrote in pprof's format (- is standard "
         "input),\n"
         "and shows where the time went. REGEX is a POSIX extended regular expression, found "
         "anywhere\n"
         "in the name of a function, its source file or its module.",
         kReportFlags},
    Verb{"diff", "BASE NEW [-o FILE]... [--fail-above SHARE]", "what got slower or faster",
         "Compares two profiles function by function, and says of each change whether it can be "
         "chance.\n"
         "Changes by chance do not trip --fail-above. Functions are matched by name and module, "
         "so the\n"
         "profiles may be of two builds. - is standard input.",
         kDiffFlags},
    Verb{
        "view", "FILE [BASE] [OPTION]...", "looks at a profile in a browser",
        "Serves the page of a profile, or of its difference to BASE, on this machine until Ctrl-C, "
        "and\n"
        "opens a browser if there is one. Only who knows the whole address gets the page.",
        kViewFlags},
    Verb{
        "convert", "FILE -o FILE... [--sample-type NAME]", "a profile in another format",
        "Reads a profile in pprof's format, folded stacks, what perf script prints or speedscope's "
        "JSON,\n"
        "by its content (- is standard input), and writes it in the formats that the endings "
        "name.",
        kConvertFlags},
    Verb{"explain", "FILE [--json]", "why frames are missing, and what helps",
         "Says of each module how many of its frames could be unwound and named, and for every "
         "reason\n"
         "why not the one command that helps. Packages are looked up by dpkg on this machine.",
         kAnswerFlags},
    Verb{"daemon", "[--config FILE] [--check-config]", "profile all the time, as a service",
         "Samples the whole machine at a low rate until it is told to stop, keeps a profile of "
         "each\n"
         "minute in a store of its own, answers `bobbin query` and `bobbin ctl`, and stays within "
         "its\n"
         "budget. What the systemd unit bobbin.service runs. SIGHUP reads the configuration again.",
         kDaemonFlags},
    Verb{"query", "[--since TIME] [--until TIME] [OPTION]...", "what the service recorded",
         "Answers from the store of `bobbin daemon`, also while that runs: as a table, as a "
         "profile\n"
         "in any format, or as a comparison with another time.",
         kQueryFlags},
    Verb{"ctl", "status|snapshot|boost|pause|resume|reload [OPTION]...",
         "steer the running service",
         "Asks the running `bobbin daemon` how it is, writes what it sampled in the last minutes, "
         "raises\n"
         "its rate for a while, pauses it, or has it read its configuration again.",
         kCtlFlags},
    Verb{"push", "FILE --to URL [OPTION]...", "send a profile to a back end",
         "Sends one profile to Pyroscope, Parca, OTLP or S3, with a series for each systemd unit,\n"
         "container or process. Each request is sent once. `bobbin daemon` sends by itself what "
         "its\n"
         "configuration names.",
         kPushFlags},
    Verb{"doctor", "[--json]", "what this kernel and these rights allow",
         "Says line by line what recording needs of this machine, whether it is there, and how to\n"
         "get it. Exit status 0 when `bobbin record` would work, 77 when only rights are missing.",
         kAnswerFlags},
    Verb{"object-info", "ELF [--json]", "what bobbin knows of one file",
         "Shows identity, segments and unwind information of one executable or shared object.",
         kAnswerFlags},
    Verb{"show-unwind", "ELF [--pc ADDRESS]", "the unwind rules of one file",
         "Shows, for each range of addresses in the file, how a walk gets to the caller's frame.",
         kShowUnwindFlags},
};

}  // namespace

std::span<const Verb> all_verbs() { return kVerbs; }
std::span<const Flag> program_flags() { return kProgramFlags; }

const Verb* find_verb(std::string_view name) {
    const auto* const found = std::ranges::find(kVerbs, name, &Verb::name);
    return found == kVerbs.end() ? nullptr : found;
}

}  // namespace bobbin::cli

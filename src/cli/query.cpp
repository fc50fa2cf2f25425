// SPDX-License-Identifier: Apache-2.0
#include "cli/query.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "cli/diff.h"
#include "cli/report.h"
#include "cli/report_text.h"
#include "cli/terminal_text.h"
#include "config/daemon_config.h"

namespace bobbin::cli {
namespace {

tl::expected<std::string, UserError> path_of_store(const QueryCommand& command) {
    if (!command.store_path.empty()) return command.store_path;
    auto config = config::read_daemon_config(command.config_path);
    if (config) return config->store.path;
    return tl::unexpected(UserError{
        fmt::format("{}: {}", config.error().place, config.error().what), config.error().why,
        "bobbin query --store " + config::DaemonConfig{}.store.path, kExitUsage});
}

UserError explain_nothing_there(const store::Range& range, const std::string& path) {
    return {"nothing was recorded " + range_text(range),
            "the store has no segment of that time: the service did not run, or it is too old",
            fmt::format("bobbin query --store {} --list --since -4w", shell_quote(path))};
}

// What the answer leaves out.
void print_comments(const symbolize::NamedProfile& profile) {
    for (const std::string& comment : profile.comments) {
        (void)write_text(stderr, "bobbin: " + printable(comment) + "\n");
    }
}

int print_table(const ReportCommand& command, symbolize::NamedProfile profile) {
    const ReportAnswer report = make_report(command, std::move(profile));
    if (command.style == ReportCommand::Style::kJson) return answer(to_json(report));
    return answer(to_text(report, terminal_of_standard_output()));
}

int write_files(const QueryCommand& command, const symbolize::NamedProfile& profile) {
    int status = kExitOk;
    for (const output::OutputFile& file : command.outputs) {
        const auto written = file.write(profile, output::sudo_user());
        if (written) continue;
        print(UserError{"cannot write " + shell_quote(file.path()), written.error().message(),
                        "df -h " + shell_quote(file.path())});
        status = kExitFailure;
    }
    return status;
}

// One question after the other to an open store.
class Query {
public:
    Query(const QueryCommand& command, std::string path, const store::StoreReader& store)
        : command_(command), path_(std::move(path)), store_(store) {}

    [[nodiscard]] int run() const {
        if (command_.list) return list();
        auto profile = read(command_.range);
        if (!profile) return fail_with_message(profile.error());
        if (command_.comparison) {
            const auto base = read(command_.comparison->base);
            if (!base) return fail_with_message(base.error());
            return answer_diff(command_.comparison->diff, *base, *profile);
        }
        if (!command_.outputs.empty()) return write_files(command_, *profile);
        return print_table(command_.table, std::move(*profile));
    }

private:
    [[nodiscard]] tl::expected<symbolize::NamedProfile, UserError> read(
        const store::Range& range) const {
        const auto segments = store_.find(range);
        if (!segments) return tl::unexpected(explain_store_failure(segments.error(), path_));
        if (segments->empty()) return tl::unexpected(explain_nothing_there(range, path_));
        auto profile = store_.read(range, command_.where);
        if (!profile) return tl::unexpected(explain_store_failure(profile.error(), path_));
        print_comments(*profile);
        return std::move(*profile);
    }

    [[nodiscard]] int list() const {
        const auto segments = store_.find(command_.range);
        if (!segments) return fail_with_message(explain_store_failure(segments.error(), path_));
        const bool is_json = command_.table.style == ReportCommand::Style::kJson;
        return answer(is_json ? list_json(*segments) : list_text(*segments));
    }

    const QueryCommand& command_;
    std::string path_;
    const store::StoreReader& store_;
};

}  // namespace

UserError explain_store_failure(const Error& error, const std::string& path) {
    UserError failure{"cannot read the store: " + error.message(), {}, {}};
    switch (error.code().value()) {
        case ENOENT:
        case ENOTDIR:
            failure.why = "the service has recorded nothing there yet";
            failure.run = "sudo systemctl enable --now bobbin";
            break;
        case EACCES:
        case EPERM:
            failure.why = fmt::format(
                "root and the group bobbin may read {}; in the group you are after this and a new "
                "login",
                shell_quote(path));
            failure.run = "sudo usermod -aG bobbin $USER";
            failure.exit_status = kExitNoPrivilege;
            break;
        default:
            failure.run = "ls -l " + shell_quote(path);
            break;
    }
    return failure;
}

int run_query(const QueryCommand& command) {
    const auto path = path_of_store(command);
    if (!path) return fail_with_message(path.error());
    const auto store = store::StoreReader::open(*path);
    if (!store) return fail_with_message(explain_store_failure(store.error(), *path));
    return Query(command, *path, *store).run();
}

}  // namespace bobbin::cli

// SPDX-License-Identifier: Apache-2.0
#include "service/exports.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "profile/pprof.h"

namespace bobbin::service {
namespace {

using Export = config::DaemonConfig::Export;
using Kind = push::Target::Kind;

Kind kind_of(Export::Kind kind) {
    switch (kind) {
        case Export::Kind::kPyroscope:
            return Kind::kPyroscope;
        case Export::Kind::kParca:
            return Kind::kParca;
        case Export::Kind::kOtlp:
            return Kind::kOtlp;
        case Export::Kind::kS3:
            break;
    }
    return Kind::kS3;
}

std::string host_name() {
    std::array<char, 256> name{};  // HOST_NAME_MAX is 64
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

push::Labels labels_of(const config::DaemonConfig& config) {
    const std::string host = host_name();
    push::Labels labels = config.labels;
    for (auto& [name, value] : labels) {
        for (auto at = value.find("%h"); at != std::string::npos;
             at = value.find("%h", at + host.size())) {
            value.replace(at, 2, host);
        }
    }
    // Two machines are two series, whatever is configured.
    labels.emplace("host", host);
    return labels;
}

// FNV-1a: the same with every build, as std::hash is not.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

}  // namespace

Exports::Exports(const config::DaemonConfig& config) { use(config); }

void Exports::use(const config::DaemonConfig& config) {
    const std::scoped_lock lock(mutex_);
    // Two may not use one directory.
    request_stop();
    senders_.clear();
    const push::Labels labels = labels_of(config);
    for (const Export& one : config.exports) {
        push::Target target{.kind = kind_of(one.kind),
                            .url = one.url,
                            .bearer_file = one.bearer_file,
                            .headers = one.headers,
                            .region = one.region,
                            .credentials_file = one.credentials_file};
        const std::string name = push::describe(target);
        push::Sender::Options options;
        options.directory = fmt::format("{}/push/{}-{:016x}", config.store.path,
                                        name.substr(0, name.find(' ')), hash_of(name));
        options.max_bytes = one.queue_bytes;
        options.profiles_together =
            static_cast<std::size_t>(std::max<long>(1, one.interval / config.store.segment));
        options.schedule.interval = one.interval;
        senders_.push_back(std::make_unique<push::Sender>(std::move(target), labels, options));
    }
}

void Exports::take(const symbolize::NamedProfile& segment) {
    const std::scoped_lock lock(mutex_);
    if (senders_.empty() || segment.stacks.empty()) return;
    const auto pprof = profile::encode_pprof(segment);
    Result<> taken = pprof ? Result<>{} : fail(pprof.error());
    for (const auto& sender : senders_) {
        if (!pprof) break;
        if (auto one = sender->take(*pprof); !one) taken = std::move(one);
    }
    if (!taken && !has_warned_) {
        spdlog::warn("profiles are not sent until this is mended: {}", taken.error().message());
    }
    has_warned_ = !taken;
}

void Exports::request_stop() {
    for (const auto& sender : senders_) sender->request_stop();
}

std::vector<Status::Exported> Exports::facts() const {
    std::vector<Status::Exported> all;
    for (const auto& sender : senders_) {
        const push::Sender::Facts facts = sender->facts();
        all.push_back({.to = push::describe(sender->target()),
                       .sent_count = facts.sent_count,
                       .sent_bytes = facts.sent_bytes,
                       .queued_bytes = facts.queued_bytes,
                       .dropped_count = facts.dropped_count,
                       .error_count = facts.error_count,
                       .last_error = facts.last_error});
    }
    return all;
}

bool exports_alike(const config::DaemonConfig& a, const config::DaemonConfig& b) {
    return a.exports == b.exports && a.labels == b.labels && a.store.path == b.store.path &&
           a.store.segment == b.store.segment;
}

}  // namespace bobbin::service

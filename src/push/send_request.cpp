// SPDX-License-Identifier: Apache-2.0
#include "push/send_request.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "serve/http_client.h"

namespace bobbin::push {
namespace {

constexpr std::size_t kMaxSecretBytes = 64 * 1024;
constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 20;
// Of an answer that explains, in a line of the log.
constexpr std::size_t kMaxExplanation = 200;

// Without the line's end.
Result<std::string> read_secret(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return fail_with(errno, "open {}", path);
    std::string text(kMaxSecretBytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    while (text.ends_with('\n') || text.ends_with('\r') || text.ends_with(' ')) text.pop_back();
    // A line break would begin another header.
    if (text.empty() || text.find_first_of("\r\n") != std::string::npos) {
        return fail("{} has no line of its own", path);
    }
    return text;
}

bool is_this_machine(std::string_view url) {
    const std::string_view host = url.substr(std::min(url.find("://") + 3, url.size()));
    return host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]");
}

Result<serve::HttpQuestion> make_question(const Target& target, const Request& request) {
    serve::HttpQuestion question{.url = request.url};
    question.method = request.method;
    question.headers = request.headers;
    question.headers.emplace_back("User-Agent: bobbin");
    // Else curl waits a second for a "100 Continue" that few servers send.
    question.headers.emplace_back("Expect:");
    for (const auto& [name, value] : target.headers) {
        question.headers.push_back(fmt::format("{}: {}", name, value));
    }
    if (!target.bearer_file.empty()) {
        BOBBIN_TRY(const std::string token, read_secret(target.bearer_file));
        question.headers.push_back("Authorization: Bearer " + token);
    }
    if (!target.credentials_file.empty()) {
        BOBBIN_TRY(question.aws_credentials, read_secret(target.credentials_file));
        question.aws_region = target.region;
    }
    question.max_answer_bytes = kMaxAnswerBytes;
    question.may_use_proxy = !is_this_machine(request.url);
    return question;
}

std::string explain(const serve::HttpReply& reply) {
    std::string text = reply.body.substr(0, kMaxExplanation);
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
    }
    while (text.ends_with(' ')) text.pop_back();
    return fmt::format("status {}{}{}", reply.status, text.empty() ? "" : ": ", text);
}

Attempt judge(const serve::HttpReply& reply) {
    if (reply.status / 100 == 2) return {};
    Attempt attempt{.outcome = Attempt::Outcome::kRefused, .why = explain(reply), .asked_for = {}};
    constexpr unsigned kTimeout = 408;
    constexpr unsigned kTooMany = 429;
    if (reply.status / 100 != 5 && reply.status != kTimeout && reply.status != kTooMany) {
        return attempt;
    }
    attempt.outcome = Attempt::Outcome::kLater;
    if (const std::string* const text = reply.headers.find("Retry-After")) {
        attempt.asked_for = parse_retry_after(*text, std::chrono::system_clock::now());
    }
    return attempt;
}

}  // namespace

Attempt send_request(const Target& target, const Request& request, const Deadlines& deadlines,
                     const std::stop_token& stop) {
    const auto later = [](const Error& error) {
        return Attempt{
            .outcome = Attempt::Outcome::kLater, .why = error.message(), .asked_for = {}};
    };
    auto question = make_question(target, request);
    if (!question) return later(question.error());
    question->body = request.body;
    question->deadline = deadlines.whole;
    question->connect_deadline = deadlines.connect;
    question->stop = stop;
    const auto reply = serve::ask_http(*question);
    return reply ? judge(*reply) : later(reply.error());
}

}  // namespace bobbin::push

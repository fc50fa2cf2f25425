// SPDX-License-Identifier: Apache-2.0
#include "serve/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <memory>
#include <mutex>
#include <string_view>

namespace bobbin::serve {
namespace {

struct FreeHandle {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeTransfers {
    void operator()(CURLM* transfers) const { curl_multi_cleanup(transfers); }
};
using Handle = std::unique_ptr<CURL, FreeHandle>;
using Transfers = std::unique_ptr<CURLM, FreeTransfers>;
using List = std::unique_ptr<curl_slist, FreeList>;

struct Receiver {
    HttpReply reply;
    std::size_t max_bytes = 0;
    bool is_too_long = false;
};

std::size_t receive_body(char* bytes, std::size_t /*one*/, std::size_t size, void* receiver) {
    auto& to = *static_cast<Receiver*>(receiver);
    to.is_too_long = size > to.max_bytes - to.reply.body.size();
    if (to.is_too_long) return 0;
    to.reply.body.append(bytes, size);
    return size;
}

// "Name: value\r\n"; the first line and the empty last one have no colon before a value.
std::size_t receive_header(char* bytes, std::size_t /*one*/, std::size_t size, void* receiver) {
    std::string_view line(bytes, size);
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || line.starts_with("HTTP/")) return size;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    static_cast<Receiver*>(receiver)->reply.headers.add(std::string(line.substr(0, colon)),
                                                        std::string(value));
    return size;
}

List make_list(const std::vector<std::string>& lines) {
    List list;
    for (const std::string& line : lines) {
        list.reset(curl_slist_append(list.release(), line.c_str()));
    }
    return list;
}

void sign(CURL* handle, const HttpQuestion& question) {
    if (question.aws_region.empty()) return;
    const std::string scheme = "aws:amz:" + question.aws_region + ":s3";
    curl_easy_setopt(handle, CURLOPT_AWS_SIGV4, scheme.c_str());
    curl_easy_setopt(handle, CURLOPT_USERPWD, question.aws_credentials.c_str());
}

void set_up(CURL* handle, const HttpQuestion& question, curl_slist* headers) {
    curl_easy_setopt(handle, CURLOPT_URL, question.url.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(question.deadline.count()));
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(question.connect_deadline.count()));
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    sign(handle, question);
    // A name server that does not answer is not waited for at the end.
    if (question.stop.stop_possible()) curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
    if (!question.socket_file.empty()) {
        curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, question.socket_file.c_str());
    }
    if (!question.may_use_proxy) curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
    if (question.method == "HEAD") curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
    if (question.method == "GET" || question.method == "HEAD") return;
    // Also an empty body has a length then.
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, question.body.data());
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(question.body.size()));
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, question.method.c_str());
}

// As curl_easy_perform(), which looks up once a second alone; a stop wakes this.
CURLcode perform(CURL* handle, const HttpQuestion& question) {
    const Transfers transfers(curl_multi_init());
    if (!transfers || curl_multi_add_handle(transfers.get(), handle) != CURLM_OK) {
        return CURLE_OUT_OF_MEMORY;
    }
    const std::stop_callback wake(question.stop,
                                  [&transfers] { curl_multi_wakeup(transfers.get()); });
    int running = 1;
    while (curl_multi_perform(transfers.get(), &running) == CURLM_OK && running != 0 &&
           !question.stop.stop_requested()) {
        // curl has timers of its own, for both deadlines too.
        curl_multi_poll(transfers.get(), nullptr, 0, static_cast<int>(question.deadline.count()),
                        nullptr);
    }
    int left = 0;
    const CURLMsg* const done = curl_multi_info_read(transfers.get(), &left);
    CURLcode code = question.stop.stop_requested() ? CURLE_ABORTED_BY_CALLBACK
                                                   : CURLE_OUT_OF_MEMORY;  // of perform() itself
    if (done != nullptr) code = done->data.result;
    curl_multi_remove_handle(transfers.get(), handle);
    return code;
}

Failure explain(CURL* handle, CURLcode code, const HttpQuestion& question,
                const Receiver& receiver) {
    long system_code = 0;
    curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &system_code);
    const std::string& place = question.socket_file.empty() ? question.url : question.socket_file;
    if (receiver.is_too_long) {
        return fail_with(EMSGSIZE, "the answer of {} has more than {} bytes", place,
                         receiver.max_bytes);
    }
    if (code == CURLE_ABORTED_BY_CALLBACK) return fail_with(ECANCELED, "ask {}", place);
    if (code == CURLE_OPERATION_TIMEDOUT) return fail_with(ETIMEDOUT, "ask {}", place);
    if (code == CURLE_COULDNT_CONNECT && system_code != 0) {
        return fail_with(static_cast<int>(system_code), "connect to {}", place);
    }
    return fail("ask {}: {}", place, curl_easy_strerror(code));
}

}  // namespace

Result<HttpReply> ask_http(const HttpQuestion& question) {
    static std::once_flag is_begun;
    std::call_once(is_begun, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    const Handle handle(curl_easy_init());
    if (!handle) return fail("ask {}: no memory for it", question.url);
    const List headers = make_list(question.headers);
    Receiver receiver{.reply = {}, .max_bytes = question.max_answer_bytes};
    set_up(handle.get(), question, headers.get());
    curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, receive_body);
    curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &receiver);
    curl_easy_setopt(handle.get(), CURLOPT_HEADERFUNCTION, receive_header);
    curl_easy_setopt(handle.get(), CURLOPT_HEADERDATA, &receiver);
    if (const CURLcode code = perform(handle.get(), question); code != CURLE_OK) {
        return explain(handle.get(), code, question, receiver);
    }
    long status = 0;
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    receiver.reply.status = static_cast<unsigned>(status);
    return std::move(receiver.reply);
}

std::string escape_query(std::string_view text) {
    constexpr std::string_view kPlain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    std::string escaped;
    for (const char c : text) {
        if (kPlain.find(c) != std::string_view::npos) {
            escaped += c;
        } else {
            escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return escaped;
}

}  // namespace bobbin::serve

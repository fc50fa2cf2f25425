// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/http_message.h"

namespace bobbin::serve {

struct HttpQuestion {
    std::string url;          // "http://host:4040/path?a=b"
    std::string socket_file;  // instead of connecting to the URL's host; empty: connects there
    std::string method = "GET";
    std::vector<std::string> headers;  // "Name: value"
    std::string body;
    std::chrono::milliseconds deadline = std::chrono::seconds{30};  // for all of it
    std::chrono::milliseconds connect_deadline = std::chrono::seconds{30};
    std::size_t max_answer_bytes = std::size_t{64} << 20;
    bool may_use_proxy = false;  // http_proxy and the like; never to this machine
    // For S3: signed by AWS's version 4 with "ACCESS_KEY:SECRET_KEY"; empty region: not signed.
    std::string aws_region;
    std::string aws_credentials;
    std::stop_token stop;  // gives it up at once; then the error is ECANCELED
};

struct HttpReply {
    unsigned status = 0;
    std::string body;
    HttpFields headers;
};

// Asks once, follows no redirection, and waits on the calling thread. An answer of any status is an
// answer. Error: there was none; its code is the system's where one is known (ENOENT or
// ECONNREFUSED: nobody listens there, EACCES), ETIMEDOUT after the deadline, ECANCELED when
// it was given up, EMSGSIZE for an answer that is too long.
Result<HttpReply> ask_http(const HttpQuestion& question);

// A value for a query: all but letters, digits and -._~ as %XX (RFC 3986 section 2).
std::string escape_query(std::string_view text);

}  // namespace bobbin::serve

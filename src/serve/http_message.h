// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bobbin::serve {

// Names and values in the order they came in.
class HttpFields {
public:
    void add(std::string name, std::string value) {
        all_.emplace_back(std::move(name), std::move(value));
    }
    // The first of this name, capital letters or not (RFC 9110 section 5.1); nullptr: none.
    [[nodiscard]] const std::string* find(std::string_view name) const;
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& all() const {
        return all_;
    }

private:
    std::vector<std::pair<std::string, std::string>> all_;
};

struct HttpRequest {
    std::string method;
    std::string path;  // decoded, without the query
    HttpFields query;  // decoded
    HttpFields headers;
    bool is_by_socket_file = false;
    // Nobody waits for the answer any more: the other side has gone, or the server stops.
    std::function<bool()> is_given_up = [] { return false; };
};

struct HttpAnswer {
    unsigned status = 200;
    std::string content_type = "text/plain; charset=utf-8";
    std::string body;
    HttpFields headers;  // besides those that the server adds
};

// Takes the same time wherever the texts differ, so that time does not tell how much of a token was
// right.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace bobbin::serve

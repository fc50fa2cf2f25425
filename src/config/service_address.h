// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace bobbin::config {

// What is wrong with an address or a name that goes with what is sent; empty: nothing. For the line
// of an error that says why.

// "unix:/path", or a loopback address with a port. No name: what "localhost" is, others decide.
std::string_view problem_of_listen(std::string_view listen);

// "http://host:4040", "https://...", for S3 also "s3://bucket". Without a password: URLs are shown.
std::string_view problem_of_url(std::string_view url, bool is_s3);

// Of an HTTP header (RFC 9110 section 5): a token, and a value without line breaks.
std::string_view problem_of_header(std::string_view name, std::string_view value);

// Prometheus, Pyroscope and Parca agree on letters, digits and _ in the name of a label.
std::string_view problem_of_label(std::string_view name, std::string_view value);

}  // namespace bobbin::config

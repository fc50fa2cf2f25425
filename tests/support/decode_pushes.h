// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "profile/read_pprof.h"

namespace bobbin::test {

// What back ends make of the bodies of requests, by the published schemas and nothing besides.

// RFC 4648 section 4, padded, without anything else.
inline std::string decode_base64(std::string_view text) {
    constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0;
    int bit_count = 0;
    EXPECT_EQ(text.size() % 4, 0U);
    while (text.ends_with('=')) text.remove_suffix(1);
    for (const char c : text) {
        const std::size_t value = kLetters.find(c);
        EXPECT_NE(value, std::string_view::npos) << c;
        bits = (bits << 6) | static_cast<std::uint32_t>(value);
        bit_count += 6;
        if (bit_count < 8) continue;
        bit_count -= 8;
        bytes += static_cast<char>((bits >> bit_count) & 0xff);
    }
    return bytes;
}

inline std::string decode_url(std::string_view text) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        decoded += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
    }
    return decoded;
}

using Fields = std::map<std::string, std::string>;

// What stands behind the ? of a URL.
inline Fields query_of(std::string_view url) {
    Fields fields;
    std::string_view rest = url.substr(url.find('?') + 1);
    while (!rest.empty()) {
        const std::string_view field = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(rest.size(), field.size() + 1));
        const std::size_t equals = field.find('=');
        fields[decode_url(field.substr(0, equals))] = decode_url(field.substr(equals + 1));
    }
    return fields;
}

// multipart/form-data (RFC 7578): contents by the names of the fields.
inline Fields form_of(std::string_view content_type, std::string_view body) {
    constexpr std::string_view kType = "multipart/form-data; boundary=";
    EXPECT_TRUE(content_type.starts_with(kType)) << content_type;
    const std::string line = "--" + std::string(content_type.substr(kType.size()));
    Fields fields;
    EXPECT_TRUE(body.starts_with(line + "\r\n"));
    body.remove_prefix(line.size());
    while (body.starts_with("\r\n")) {
        body.remove_prefix(2);
        const std::size_t head_end = body.find("\r\n\r\n");
        const std::string_view head = body.substr(0, head_end);
        const std::size_t name = head.find("form-data; name=\"") + 17;
        const std::size_t end = body.find("\r\n" + line);
        if (head_end == std::string_view::npos || end == std::string_view::npos) break;
        fields[std::string(head.substr(name, head.find('"', name) - name))] =
            body.substr(head_end + 4, end - head_end - 4);
        body.remove_prefix(end + 2 + line.size());
    }
    EXPECT_EQ(body, "--\r\n");
    return fields;
}

// Samples by service_name, and the other labels of each series.
struct Pushed {
    std::map<std::string, std::uint64_t> samples;
    std::map<std::string, Fields> labels;
};

inline void expect_keys(const nlohmann::json& object, const std::set<std::string>& allowed) {
    for (const auto& [key, value] : object.items()) EXPECT_TRUE(allowed.contains(key)) << key;
}

// One of push.v1.RawProfileSeries or parca.profilestore.v1alpha1.RawProfileSeries: `labels` is the
// list of {name, value}.
inline void add_series(const nlohmann::json& labels, const nlohmann::json& samples,
                       Pushed& pushed) {
    Fields fields;
    for (const nlohmann::json& label : labels) {
        expect_keys(label, {"name", "value"});
        EXPECT_TRUE(fields.emplace(label.at("name"), label.at("value")).second);
    }
    EXPECT_EQ(fields["__name__"], "process_cpu");
    const std::string service = fields["service_name"];
    for (const nlohmann::json& sample : samples) {
        expect_keys(sample, {"rawProfile"});
        const auto profile =
            profile::read_pprof(decode_base64(sample.at("rawProfile").get<std::string>()));
        ASSERT_TRUE(profile) << profile.error().message();
        pushed.samples[service] += profile->sample_count;
    }
    pushed.labels[service] = fields;
}

// push.v1.PushRequest: series{labels[], samples{rawProfile}}.
inline Pushed read_pyroscope_push(const std::string& body) {
    Pushed pushed;
    const auto json = nlohmann::json::parse(body);
    expect_keys(json, {"series"});
    for (const nlohmann::json& series : json.at("series")) {
        expect_keys(series, {"labels", "samples"});
        add_series(series.at("labels"), series.at("samples"), pushed);
    }
    return pushed;
}

// WriteRawRequest: series{labels{labels[]}, samples{rawProfile}}, normalized.
inline Pushed read_parca_write(const std::string& body) {
    Pushed pushed;
    const auto json = nlohmann::json::parse(body);
    expect_keys(json, {"series", "normalized"});
    EXPECT_TRUE(json.at("normalized").get<bool>());
    for (const nlohmann::json& series : json.at("series")) {
        expect_keys(series, {"labels", "samples"});
        expect_keys(series.at("labels"), {"labels"});
        add_series(series.at("labels").at("labels"), series.at("samples"), pushed);
    }
    return pushed;
}

}  // namespace bobbin::test

// SPDX-License-Identifier: Apache-2.0
// What S3 does with a request: it computes the signature again (AWS's "Signature Version 4 signing
// process", by GnuTLS's HMAC and not by the library that signed).
#include <gmock/gmock.h>
#include <gnutls/crypto.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>

#include "push/back_end.h"
#include "push/send_request.h"
#include "support/fake_back_end.h"
#include "support/small_profile.h"
#include "support/temporary_directory.h"

namespace bobbin::push {
namespace {

constexpr std::size_t kDigestBytes = 32;

std::string hex(const std::string& bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        text += kDigits[static_cast<unsigned char>(c) >> 4];
        text += kDigits[static_cast<unsigned char>(c) & 15];
    }
    return text;
}
std::string sha256(const std::string& text) {
    std::string digest(kDigestBytes, '\0');
    EXPECT_EQ(gnutls_hash_fast(GNUTLS_DIG_SHA256, text.data(), text.size(), digest.data()), 0);
    return digest;
}
std::string hmac(const std::string& key, const std::string& text) {
    std::string digest(kDigestBytes, '\0');
    EXPECT_EQ(gnutls_hmac_fast(GNUTLS_MAC_SHA256, key.data(), key.size(), text.data(), text.size(),
                               digest.data()),
              0);
    return digest;
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t from = text.find(begin) + begin.size();
    return text.substr(from, text.find(end, from) - from);
}

// From the request alone and the secret.
std::string signature_of(const test::Received& request, const std::string& secret) {
    const std::string given = request.header("authorization");
    const std::string names = between(given, "SignedHeaders=", ",");
    std::string canonical = request.method + "\n" + request.target + "\n\n";
    for (std::size_t at = 0; at < names.size();) {
        const std::string name = names.substr(at, names.find(';', at) - at);
        canonical += name + ":" + request.header(name) + "\n";
        at += name.size() + 1;
    }
    canonical += "\n" + names + "\n" + hex(sha256(request.body));
    const std::string date = request.header("x-amz-date").substr(0, 8);
    const std::string to_sign = "AWS4-HMAC-SHA256\n" + request.header("x-amz-date") + "\n" + date +
                                "/eu-north-1/s3/aws4_request\n" + hex(sha256(canonical));
    std::string key = hmac("AWS4" + secret, date);
    for (const char* part : {"eu-north-1", "s3", "aws4_request"}) key = hmac(key, part);
    return hex(hmac(key, to_sign));
}

TEST(SendRequest, SignsForS3) {
    test::FakeBackEnd server;
    const test::TemporaryDirectory directory;
    std::ofstream(directory / "key") << "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n";
    const Target target{.kind = Target::Kind::kS3,
                        .url = server.url() + "/bucket",
                        .bearer_file = {},
                        .headers = {},
                        .region = "eu-north-1",
                        .credentials_file = directory / "key"};
    const auto requests =
        make_requests(target, test::small_profile(store::test::kMorning), {{"host", "web 1"}});
    ASSERT_TRUE(requests);
    const Attempt attempt = send_request(target, requests->at(0), {}, {});
    ASSERT_EQ(attempt.outcome, Attempt::Outcome::kTaken) << attempt.why;
    const test::Received received = server.wait_for(1).at(0);
    EXPECT_EQ(received.method, "PUT");
    // As S3 writes a path: no other characters stand for themselves.
    EXPECT_EQ(received.target, "/bucket/host%3Dweb%201/date%3D2026-11-22/103000.000.pb.gz");
    const std::string given = received.header("authorization");
    EXPECT_EQ(between(given, "Credential=AKIDEXAMPLE/", ","),
              received.header("x-amz-date").substr(0, 8) + "/eu-north-1/s3/aws4_request");
    EXPECT_EQ(received.header("x-amz-content-sha256"), hex(sha256(received.body)));
    EXPECT_EQ(between(given, "Signature=", "\n"),
              signature_of(received, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"));
    EXPECT_EQ(received.body, requests->at(0).body);
}

}  // namespace
}  // namespace bobbin::push

// SPDX-License-Identifier: Apache-2.0
#include "profile/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace bobbin::profile {
namespace {

std::string gunzip(const std::string& compressed, std::size_t expected_size) {
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    std::string text(expected_size + 1, '\0');
    std::string input = compressed;
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = reinterpret_cast<Bytef*>(text.data());
    stream.avail_out = static_cast<uInt>(text.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    text.resize(stream.total_out);
    inflateEnd(&stream);
    return text;
}

TEST(Gzip, GivesOneMemberThatZlibReadsBack) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += std::to_string(i * 7919 % 1000);
    for (const std::string& content : {std::string(), std::string("x"), text}) {
        const auto compressed = gzip(content);
        ASSERT_TRUE(compressed) << compressed.error().message();
        EXPECT_EQ(compressed->substr(0, 2), "\x1f\x8b");
        EXPECT_EQ(gunzip(*compressed, content.size()), content);
    }
}

TEST(Gzip, GivesEqualBytesForEqualText) { EXPECT_EQ(*gzip("again"), *gzip("again")); }

}  // namespace
}  // namespace bobbin::profile

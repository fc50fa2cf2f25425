// SPDX-License-Identifier: Apache-2.0
#include "symbolize/object_messages.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace bobbin::symbolize {
namespace {

// The layout by hand: three flags, the units that are missing, the texts, then the frames.
class AnswerBytes {
public:
    AnswerBytes() {
        bytes_.resize(3);
        put(std::uint64_t{0});
    }
    template <class T>
    AnswerBytes& put(T value) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + sizeof(value));
        std::memcpy(bytes_.data() + at, &value, sizeof(value));
        return *this;
    }
    AnswerBytes& number(std::uint32_t value) { return put(value); }
    AnswerBytes& text(const std::string& text) {
        number(static_cast<std::uint32_t>(text.size()));
        for (const char letter : text) put(letter);
        return *this;
    }
    [[nodiscard]] Result<ObjectNames> decode(std::size_t address_count) const {
        return decode_names(bytes_, address_count);
    }

private:
    std::vector<std::byte> bytes_;
};

ObjectNames two_addresses() {
    ObjectNames names;
    names.names = {{{"inlined", "/src/a.h", 7, {}}, {"outer", "/src/a.c", 40, {}}}, {}};
    names.quality = {.has_debug_info = true,
                     .lacks_supplementary_file = true,
                     .missing_split_units = 5,
                     .is_out_of_time = true};
    return names;
}

TEST(DecodeNames, GivesWhatWasEncoded) {
    const auto names = decode_names(encode(two_addresses()), 2);
    ASSERT_TRUE(names) << names.error().message();
    ASSERT_EQ(names->names.size(), 2U);
    ASSERT_EQ(names->names[0].size(), 2U);
    EXPECT_EQ(names->names[0][0].system_name, "inlined");
    EXPECT_EQ(names->names[0][0].file, "/src/a.h");
    EXPECT_EQ(names->names[0][0].line, 7U);
    EXPECT_EQ(names->names[0][1].system_name, "outer");
    EXPECT_EQ(names->names[0][1].file, "/src/a.c");
    EXPECT_EQ(names->names[0][1].line, 40U);
    EXPECT_TRUE(names->names[1].empty());
    EXPECT_TRUE(names->quality.has_debug_info);
    EXPECT_TRUE(names->quality.lacks_supplementary_file);
    EXPECT_TRUE(names->quality.is_out_of_time);
    EXPECT_EQ(names->quality.missing_split_units, 5U);
}

TEST(DecodeNames, RefusesAnswersThatAreTooShort) {
    const std::vector<std::byte> whole = encode(two_addresses());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(decode_names(std::span(whole).first(size), 2)) << size;
    }
}

TEST(DecodeNames, RefusesAnswersForAnotherNumberOfAddresses) {
    const std::vector<std::byte> bytes = encode(two_addresses());
    EXPECT_FALSE(decode_names(bytes, 1));
    EXPECT_FALSE(decode_names(bytes, 3));
}

TEST(DecodeNames, RefusesTextsThatAreNotThere) {
    AnswerBytes good;
    EXPECT_TRUE(good.number(1).text("f").number(1).number(0).number(0).number(9).decode(1));
    AnswerBytes no_such_name;
    EXPECT_FALSE(
        no_such_name.number(1).text("f").number(1).number(1).number(0).number(9).decode(1));
    AnswerBytes no_such_file;
    EXPECT_FALSE(
        no_such_file.number(1).text("f").number(1).number(0).number(7).number(9).decode(1));
}

// Before it takes memory for them.
TEST(DecodeNames, RefusesCountsThatTheBytesCannotHold) {
    AnswerBytes texts;
    EXPECT_FALSE(texts.number(0xffffffff).decode(1));
    AnswerBytes letters;
    EXPECT_FALSE(letters.number(1).number(0xffffffff).decode(1));
    AnswerBytes frames;
    EXPECT_FALSE(frames.number(0).number(0xffffffff).decode(1));
}

// 5,000 frames of 60 KB each are 300 MB; the answer has 120 KB.
TEST(DecodeNames, RefusesAFewBytesThatBecomeMany) {
    AnswerBytes bytes;
    bytes.number(1).text(std::string(60'000, 'x')).number(5000);
    for (int i = 0; i < 5000; ++i) bytes.number(0).number(0).number(1);
    EXPECT_FALSE(bytes.decode(1));
}

TEST(DecodeRequest, GivesWhatWasEncoded) {
    const ObjectRequest sent{.path = "/usr/bin/x",
                             .addresses = {1, 2, 0xffffffffffffffff},
                             .detail = SymbolDetail::kLines,
                             .time_limit = std::chrono::milliseconds{1234},
                             .debug_directories = {"/usr/lib/debug", "/elsewhere"},
                             .downloads = "a place"};
    const auto request = decode_request(encode(sent));
    ASSERT_TRUE(request);
    EXPECT_EQ(request->path, sent.path);
    EXPECT_EQ(request->addresses, sent.addresses);
    EXPECT_EQ(request->detail, sent.detail);
    EXPECT_EQ(request->time_limit, sent.time_limit);
    EXPECT_EQ(request->debug_directories, sent.debug_directories);
    EXPECT_EQ(request->downloads, sent.downloads);
}

TEST(DecodeCodeMapRequest, GivesWhatWasEncoded) {
    const std::vector<std::uint64_t> addresses = {1, 0xffffffffffffffff};
    for (const CodeMapKind kind : {CodeMapKind::kJitdump, CodeMapKind::kPerfMap}) {
        const std::vector<std::byte> bytes = encode(CodeMapRequest{kind, addresses});
        const auto request = decode_code_map_request(bytes);
        ASSERT_TRUE(request);
        EXPECT_EQ(request->kind, kind);
        EXPECT_EQ(request->addresses, addresses);
        EXPECT_FALSE(decode_code_map_request(std::span(bytes).first(bytes.size() - 1)));
    }
}

TEST(DecodeDemangleRequest, GivesWhatWasEncoded) {
    const std::vector<std::string> names = {"_Z1fv", "", "_Dmain"};
    const std::vector<std::byte> bytes = encode(DemangleRequest{DemangleStyle::kFull, names});
    const auto request = decode_demangle_request(bytes);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->style, DemangleStyle::kFull);
    EXPECT_EQ(request->system_names, names);
    EXPECT_FALSE(decode_demangle_request(std::span(bytes).first(bytes.size() - 1)));
}

TEST(DecodeTexts, RefusesWhatIsTooShortOrTooLong) {
    const std::vector<std::string> texts = {"one", "two"};
    std::vector<std::byte> bytes = encode(std::span(texts));
    EXPECT_EQ(decode_texts(bytes).value_or(std::vector<std::string>()), texts);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(decode_texts(std::span(bytes).first(size))) << size;
    }
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(decode_texts(bytes));
}

TEST(DecodeText, CutsOffWhatIsTooLong) {
    EXPECT_EQ(decode_text(encode(std::string("a text"))), "a text");
    EXPECT_EQ(decode_text(encode(std::string(kMaxTextBytes + 1, 'x'))).size(), kMaxTextBytes);
}

}  // namespace
}  // namespace bobbin::symbolize

// SPDX-License-Identifier: Apache-2.0
#include "dwarf/file_section.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "support/temporary_directory.h"

namespace bobbin::dwarf {
namespace {

using Method = PackedStream::Method;

// Half of it repeats what came up to 32 KiB before, as far as Deflate can refer; half is new.
std::string make_text(std::size_t size_bytes) {
    std::mt19937 random(6);
    std::string text;
    while (text.size() < size_bytes) {
        const std::size_t count = 4 + random() % 60;
        if (text.size() > count && random() % 2 == 0) {
            const std::size_t back = 1 + random() % std::min<std::size_t>(text.size(), 32768);
            for (std::size_t i = 0; i < count; ++i) text.push_back(text[text.size() - back]);
        } else {
            for (std::size_t i = 0; i < count; ++i) text.push_back(static_cast<char>(random()));
        }
    }
    text.resize(size_bytes);
    return text;
}

std::string pack(const std::string& text, Method method) {
    if (method == Method::kZstd) {
        std::string packed(::ZSTD_compressBound(text.size()), '\0');
        packed.resize(::ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
        return packed;
    }
    uLongf size = ::compressBound(text.size());
    std::string packed(size, '\0');
    EXPECT_EQ(::compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                          reinterpret_cast<const Bytef*>(text.data()), text.size(), 6),
              Z_OK);
    packed.resize(size);
    return packed;
}

std::string text_of(const std::optional<HeldBytes>& held, std::uint64_t offset,
                    std::uint64_t count) {
    if (!held || held->bytes.empty() || offset < held->offset) return "nothing";
    const std::span<const std::byte> rest = held->bytes.subspan(offset - held->offset);
    if (rest.size() < count) return "too little";
    return {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(count)};
}

class PackedFile : public testing::TestWithParam<Method> {
protected:
    void write(const std::string& packed, std::uint64_t unpacked_bytes) {
        const std::string path = directory_.write("packed", packed);
        fd_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        stream_ = {fd_.get(), 0, packed.size(), unpacked_bytes, GetParam()};
    }
    std::shared_ptr<CompressedSection> whole() {
        return std::make_shared<CompressedSection>(stream_, limit_);
    }

    static const std::string& shared_text() {
        static const std::string text = make_text(kTextBytes);
        return text;
    }

    static constexpr std::uint64_t kTextBytes = 3U << 20;
    test::TemporaryDirectory directory_;
    const std::string& text_ = shared_text();
    UniqueFd fd_;
    PackedStream stream_;
    std::shared_ptr<MemoryLimit> limit_ = std::make_shared<MemoryLimit>();
};

TEST_P(PackedFile, IsUnpackedInPiecesOfAnySize) {
    write(pack(text_, GetParam()), text_.size());
    for (const std::size_t piece : {1000U, 32768U, 70001U, 3U << 20}) {
        const auto unpacker = Unpacker::open(stream_);
        std::string unpacked(text_.size(), '\0');
        for (std::size_t at = 0; at < unpacked.size(); at += piece) {
            const std::size_t count = std::min(piece, unpacked.size() - at);
            ASSERT_TRUE(
                unpacker->next(std::as_writable_bytes(std::span(unpacked)).subspan(at, count)));
        }
        EXPECT_TRUE(unpacked == text_) << "in pieces of " << piece;
    }
}

TEST_P(PackedFile, EndsWhereItWasCutOff) {
    const std::string packed = pack(text_, GetParam());
    write(packed.substr(0, packed.size() / 2), text_.size());
    std::vector<std::byte> unpacked(text_.size());
    EXPECT_FALSE(Unpacker::open(stream_)->next(unpacked));
    EXPECT_EQ(text_of(whole()->hold(0, 1), 0, 1), "nothing");
    EXPECT_EQ(limit_->remaining_bytes, MemoryLimit().remaining_bytes);
}

// Bytes behind the end of the stream are not its continuation.
TEST_P(PackedFile, HasNoMoreThanItsStream) {
    write(pack(text_, GetParam()) + std::string(100, 'x'), text_.size() + 1);
    std::vector<std::byte> unpacked(text_.size() + 1);
    EXPECT_FALSE(Unpacker::open(stream_)->next(unpacked));
}

TEST_P(PackedFile, KeepsOnlyWhatALookAheadIsFor) {
    write(pack(text_, GetParam()), text_.size());
    ForwardSection section(whole());
    for (const std::uint64_t offset : {0U, 100U, 600'000U, 600'050U, 2'900'000U}) {
        EXPECT_EQ(text_of(section.hold(offset, 5000), offset, 5000), text_.substr(offset, 5000));
    }
    EXPECT_EQ(text_of(section.hold(kTextBytes - 1, 1), kTextBytes - 1, 1),
              text_.substr(kTextBytes - 1));
    EXPECT_GT(limit_->remaining_bytes, MemoryLimit().remaining_bytes - (2U << 20));
}

TEST_P(PackedFile, IsUnpackedAsAWholeForALookBack) {
    write(pack(text_, GetParam()), text_.size());
    const auto in_memory = whole();
    ForwardSection section(in_memory);
    EXPECT_EQ(text_of(section.hold(2'000'000, 10), 2'000'000, 10), text_.substr(2'000'000, 10));
    EXPECT_FALSE(in_memory->is_unpacked());
    EXPECT_EQ(text_of(section.hold(10, 10), 10, 10), text_.substr(10, 10));
    EXPECT_TRUE(in_memory->is_unpacked());
    EXPECT_EQ(limit_->remaining_bytes, MemoryLimit().remaining_bytes - kTextBytes);
    EXPECT_EQ(text_of(section.hold(2'500'000, 10), 2'500'000, 10), text_.substr(2'500'000, 10));
}

TEST_P(PackedFile, IsReadFromFrontToBackWhereTheWholeWouldBeTooMuch) {
    write(pack(text_, GetParam()), text_.size());
    limit_->remaining_bytes = 1U << 20;
    ForwardSection section(whole());
    EXPECT_EQ(text_of(section.hold(2'000'000, 10), 2'000'000, 10), text_.substr(2'000'000, 10));
    EXPECT_EQ(text_of(section.hold(10, 10), 10, 10), "nothing");
    EXPECT_EQ(text_of(section.hold(2'500'000, 10), 2'500'000, 10), "nothing")
        << "where it was is lost, and from the beginning on it would be any number of times";
}

INSTANTIATE_TEST_SUITE_P(, PackedFile, testing::Values(Method::kZlib, Method::kZstd),
                         [](const auto& test) {
                             return test.param == Method::kZlib ? "Zlib" : "Zstd";
                         });

}  // namespace
}  // namespace bobbin::dwarf

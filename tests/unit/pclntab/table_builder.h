// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace bobbin::pclntab::test {

// A function table of Go 1.20 or later, put together by hand: header, names, stack depths,
// functions. Text starts at kTextStart.
class TableBuilder {
public:
    static constexpr std::uint64_t kTextStart = 0x401000;

    struct Entry {
        std::string name;
        std::uint32_t start = 0;           // from kTextStart
        std::vector<std::uint8_t> depths;  // as pcsp has them; empty: no table
        std::uint8_t flags = 0;
    };

    TableBuilder& add(Entry entry) {
        entries_.push_back(std::move(entry));
        return *this;
    }

    [[nodiscard]] std::vector<std::byte> build(std::uint32_t text_size,
                                               std::uint64_t text_start = kTextStart) const {
        std::vector<std::byte> names(1);
        std::vector<std::byte> depths(1);  // offset 0 means "none"
        std::vector<std::byte> heads;
        std::vector<std::byte> records;
        const auto heads_size = static_cast<std::uint32_t>(entries_.size() * 8 + 4);
        for (const Entry& entry : entries_) {
            put(heads, entry.start);
            put(heads, heads_size + static_cast<std::uint32_t>(records.size()));
            put(records, entry.start);
            put(records, static_cast<std::uint32_t>(names.size()));
            put(records, std::uint64_t{0});  // args, deferreturn
            put(records, entry.depths.empty() ? 0 : static_cast<std::uint32_t>(depths.size()));
            for (int i = 0; i < 5; ++i) put(records, std::uint32_t{0});  // pcfile ... startLine
            put(records, std::uint32_t{0} | static_cast<std::uint32_t>(entry.flags) << 8);
            for (const char c : entry.name) names.push_back(static_cast<std::byte>(c));
            names.push_back(std::byte{0});
            for (const std::uint8_t byte : entry.depths) depths.push_back(std::byte{byte});
        }
        put(heads, text_size);

        std::vector<std::byte> table;
        put(table, std::uint32_t{0xfffffff1});
        put(table, std::uint32_t{0x08010000});  // pad, pad, quantum 1, pointers of 8 bytes
        constexpr std::uint64_t kHeaderBytes = 72;
        const std::uint64_t depths_at = kHeaderBytes + names.size();
        const std::uint64_t functions_at = depths_at + depths.size();
        for (const std::uint64_t word :
             {std::uint64_t{entries_.size()}, std::uint64_t{0}, text_start, kHeaderBytes,
              std::uint64_t{0}, std::uint64_t{0}, depths_at, functions_at}) {
            put(table, word);
        }
        for (const auto* part : {&names, &depths, &heads, &records})
            table.insert(table.end(), part->begin(), part->end());
        return table;
    }

private:
    template <class T>
    static void put(std::vector<std::byte>& to, T value) {
        const std::size_t at = to.size();
        to.resize(at + sizeof(value));
        std::memcpy(to.data() + at, &value, sizeof(value));
    }

    std::vector<Entry> entries_;
};

}  // namespace bobbin::pclntab::test

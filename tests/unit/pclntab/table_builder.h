// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bobbin::pclntab::test {

// A function table of Go 1.20 or later, put together by hand: header, names, files of one unit,
// values, functions. Text starts at kTextStart.
class TableBuilder {
public:
    static constexpr std::uint64_t kTextStart = 0x401000;

    // As pctab has them; empty: no table.
    using Values = std::vector<std::uint8_t>;

    struct Entry {
        std::string name;
        std::uint32_t start = 0;  // from kTextStart
        Values depths;
        std::uint8_t flags = 0;
        Values files{};
        Values lines{};
        Values calls{};                                    // indices in the inline tree
        std::optional<std::uint32_t> tree = std::nullopt;  // its offset
    };

    TableBuilder& add(Entry entry) {
        entries_.push_back(std::move(entry));
        return *this;
    }

    // Number 0, 1, ... of the unit.
    TableBuilder& add_file(const std::string& name) {
        put(unit_files_, static_cast<std::uint32_t>(files_.size()));
        put_text(files_, name);
        return *this;
    }

    // A name that no function of the table has; what was inlined everywhere has only that.
    std::uint32_t add_name(const std::string& name) {
        const auto offset = static_cast<std::uint32_t>(names_.size());
        put_text(names_, name);
        return offset;
    }

    [[nodiscard]] std::vector<std::byte> build(std::uint32_t text_size,
                                               std::uint64_t text_start = kTextStart) const {
        std::vector<std::byte> names = names_;
        std::vector<std::byte> values(1);  // offset 0 means "none"
        std::vector<std::byte> heads;
        std::vector<std::byte> records;
        const auto heads_size = static_cast<std::uint32_t>(entries_.size() * 8 + 4);
        for (const Entry& entry : entries_) {
            put(heads, entry.start);
            put(heads, heads_size + static_cast<std::uint32_t>(records.size()));
            put_record(records, entry, static_cast<std::uint32_t>(names.size()), values);
            put_text(names, entry.name);
        }
        put(heads, text_size);

        std::vector<std::byte> table;
        put(table, std::uint32_t{0xfffffff1});
        put(table, std::uint32_t{0x08010000});  // pad, pad, quantum 1, pointers of 8 bytes
        constexpr std::uint64_t kHeaderBytes = 72;
        const std::uint64_t unit_files_at = kHeaderBytes + names.size();
        const std::uint64_t files_at = unit_files_at + unit_files_.size();
        const std::uint64_t values_at = files_at + files_.size();
        const std::uint64_t functions_at = values_at + values.size();
        for (const std::uint64_t word :
             {std::uint64_t{entries_.size()}, std::uint64_t{unit_files_.size() / 4}, text_start,
              kHeaderBytes, unit_files_at, files_at, values_at, functions_at}) {
            put(table, word);
        }
        for (const std::span<const std::byte> part :
             std::initializer_list<std::span<const std::byte>>{names, unit_files_, files_, values,
                                                               heads, records}) {
            table.insert(table.end(), part.begin(), part.end());
        }
        return table;
    }

    template <class T>
    static void put(std::vector<std::byte>& to, T value) {
        const std::size_t at = to.size();
        to.resize(at + sizeof(value));
        std::memcpy(to.data() + at, &value, sizeof(value));
    }

private:
    static void put_text(std::vector<std::byte>& to, const std::string& text) {
        for (const char c : text) to.push_back(static_cast<std::byte>(c));
        to.push_back(std::byte{0});
    }

    static std::uint32_t put_values(std::vector<std::byte>& to, const Values& values) {
        if (values.empty()) return 0;
        const auto offset = static_cast<std::uint32_t>(to.size());
        for (const std::uint8_t byte : values) to.push_back(std::byte{byte});
        return offset;
    }

    // runtime/runtime2.go, _func.
    static void put_record(std::vector<std::byte>& to, const Entry& entry, std::uint32_t name,
                           std::vector<std::byte>& values) {
        constexpr std::uint32_t kTables = 3;  // up to PCDATA_InlTreeIndex
        constexpr std::uint32_t kData = 4;    // up to FUNCDATA_InlTree
        constexpr std::uint32_t kNone = ~0U;
        put(to, entry.start);
        put(to, name);
        put(to, std::uint64_t{0});  // args, deferreturn
        put(to, put_values(values, entry.depths));
        put(to, put_values(values, entry.files));
        put(to, put_values(values, entry.lines));
        put(to, kTables);
        put(to, std::uint64_t{0});  // cuOffset, startLine
        put(to, static_cast<std::uint32_t>(entry.flags) << 8 | kData << 24);
        put(to, std::uint64_t{0});
        put(to, put_values(values, entry.calls));
        for (std::uint32_t i = 0; i + 1 < kData; ++i) put(to, kNone);
        put(to, entry.tree.value_or(kNone));
    }

    std::vector<Entry> entries_;
    std::vector<std::byte> names_ = std::vector<std::byte>(1);
    std::vector<std::byte> unit_files_;
    std::vector<std::byte> files_;
};

}  // namespace bobbin::pclntab::test

// SPDX-License-Identifier: Apache-2.0
#include "pclntab/names.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/byte_reader.h"
#include "pclntab/pc_values.h"

namespace bobbin::pclntab {
namespace {

// One table of a function, read once for all of the addresses in it.
class ValueTable {
public:
    // Takes what it reads from `spans_left`.
    void read(std::span<const std::byte> bytes, std::uint64_t function_bytes,
              std::uint64_t& spans_left) {
        spans_.clear();
        PcValues values(bytes);
        std::uint64_t end = 0;
        while (end < function_bytes && spans_left > 0) {
            const std::optional<ValueSpan> span = values.next();
            if (!span) break;
            --spans_left;
            end = span->end;
            spans_.push_back(*span);
        }
    }
    void clear() { spans_.clear(); }

    [[nodiscard]] std::optional<std::uint32_t> at(std::uint32_t offset) const {
        const auto span = std::ranges::upper_bound(spans_, offset, {}, &ValueSpan::end);
        if (span == spans_.end() || span->value < 0) return std::nullopt;
        return static_cast<std::uint32_t>(span->value);
    }

private:
    std::vector<ValueSpan> spans_;
};

class Namer {
public:
    Namer(const FunctionTable& table, const InlineTrees& trees) : table_(table), trees_(trees) {}

    std::vector<Frame> frames_at(std::uint64_t file_vaddr) {
        if (spans_left_ == 0 || answer_bytes_left_ == 0 || !enter_function(file_vaddr)) return {};
        std::vector<Frame> frames;
        auto offset = static_cast<std::uint32_t>(file_vaddr - function_.start_file_vaddr);
        std::optional<InlinedCall> call = inlined_call_at(offset);
        while (call && frames.size() < kMaxInlinedCalls) {
            frames.push_back(frame(call->function, offset));
            offset = call->parent_pc;
            call = inlined_call_at(offset);
        }
        frames.push_back(frame(table_.name_at(function_.name_offset), offset));
        charge(frames);
        return frames;
    }

private:
    struct InlinedCall {
        std::string_view function;
        std::uint32_t parent_pc =
            0;  // an instruction at the line of the call, from the function's start
    };

    // Addresses ascend, so that most lie in the function of the one before.
    bool enter_function(std::uint64_t file_vaddr) {
        if (is_known_ && file_vaddr >= function_.start_file_vaddr &&
            file_vaddr < function_.end_file_vaddr) {
            return true;
        }
        is_known_ = false;
        const auto index = table_.find(file_vaddr);
        const auto function = index ? table_.function(*index) : std::nullopt;
        constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::uint32_t>::max();
        // The entries of a damaged table do not ascend.
        if (!function || file_vaddr < function->start_file_vaddr ||
            file_vaddr >= function->end_file_vaddr ||
            function->end_file_vaddr - function->start_file_vaddr > kMaxBytes) {
            return false;
        }
        const auto record = read_function_record(table_, *function, trees_.layout);
        if (!record) return false;
        function_ = *function;
        record_ = *record;
        read_tables();
        is_known_ = true;
        return true;
    }

    void read_tables() {
        read(files_, record_.files_offset);
        read(lines_, record_.lines_offset);
        const bool has_calls = record_.inline_tree && !trees_.bytes.empty();
        read(calls_, has_calls ? record_.inline_index_offset : 0);
    }

    void read(ValueTable& values, std::uint32_t offset) {
        values.clear();
        if (offset == 0) return;
        values.read(table_.values_at(offset), function_.end_file_vaddr - function_.start_file_vaddr,
                    spans_left_);
    }

    [[nodiscard]] Frame frame(std::string_view function, std::uint32_t offset) const {
        const auto file = files_.at(offset);
        const auto line = lines_.at(offset);
        if (!file || !line) return {.function = function, .file = {}, .line = 0};
        return {.function = function,
                .file = table_.file_name(record_.unit_offset, *file),
                .line = *line};
    }

    // nullopt: the code is the function's own.
    [[nodiscard]] std::optional<InlinedCall> inlined_call_at(std::uint32_t offset) const {
        const auto index = calls_.at(offset);
        if (!index) return std::nullopt;
        const InlineLayout& layout = trees_.layout;
        // What wraps round leaves the bytes.
        const std::uint64_t start =
            trees_.start_file_vaddr + *record_.inline_tree - trees_.file_vaddr;
        if (start > trees_.bytes.size()) return std::nullopt;
        ByteReader in(trees_.bytes.subspan(static_cast<std::size_t>(start)));
        in.skip(std::uint64_t{*index} * layout.call_bytes + layout.name_at);
        InlinedCall call{.function = table_.name_at(in.u32())};
        in.skip(layout.parent_pc_at - layout.name_at - 4);
        call.parent_pc = in.u32();
        if (!in.ok() || call.function.empty()) return std::nullopt;
        return call;
    }

    void charge(const std::vector<Frame>& frames) {
        constexpr std::uint64_t kFrameBytes = 128;  // three strings and their bookkeeping
        for (const Frame& frame : frames) {
            const std::uint64_t cost = kFrameBytes + frame.function.size() + frame.file.size();
            answer_bytes_left_ -= std::min(cost, answer_bytes_left_);
        }
    }

    const FunctionTable& table_;
    const InlineTrees& trees_;
    bool is_known_ = false;  // what follows is of the last function asked for
    Function function_;
    FunctionRecord record_;
    ValueTable files_;
    ValueTable lines_;
    ValueTable calls_;
    std::uint64_t spans_left_ = kMaxValueSpans;
    std::uint64_t answer_bytes_left_ = kMaxAnswerBytes;
};

}  // namespace

std::vector<std::vector<Frame>> name_addresses(const FunctionTable& table, const InlineTrees& trees,
                                               std::span<const std::uint64_t> addresses) {
    Namer namer(table, trees);
    std::vector<std::vector<Frame>> names;
    names.reserve(addresses.size());
    for (const std::uint64_t file_vaddr : addresses) names.push_back(namer.frames_at(file_vaddr));
    return names;
}

}  // namespace bobbin::pclntab

// SPDX-License-Identifier: Apache-2.0
#include "luajit/read_layout.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "luajit/check_layout.h"
#include "luajit/code_template.h"
#include "luajit/vm_names.h"
#include "luajit/vm_templates.h"

namespace bobbin::luajit {
namespace {

constexpr std::size_t kManyHits = 64;
constexpr std::size_t kFfiCallBytes = 512;  // 160 in builds seen

// What the templates said, by name. Two that say different things of one name are an error.
template <class T>
class Sayings {
public:
    Result<> add(std::string_view name, T value, std::string_view source) {
        for (const Saying& known : sayings_) {
            if (known.name != name || known.value == value) continue;
            return fail("the code of {} has {} = {}, that of {} has {}", known.source, name,
                        known.value, source, value);
        }
        sayings_.push_back({name, value, source});
        return {};
    }
    [[nodiscard]] std::optional<T> find(std::string_view name) const {
        const auto found = std::ranges::find(sayings_, name, &Saying::name);
        if (found == sayings_.end()) return std::nullopt;
        return found->value;
    }

private:
    struct Saying {
        std::string_view name;
        T value;
        std::string_view source;
    };
    std::vector<Saying> sayings_;
};

class LayoutReader {
public:
    explicit LayoutReader(const VmCode& code) : code_(code) {}

    Result<VmLayout> read();

private:
    Result<> read_kind();
    Result<> read_templates();
    Result<> take_all();
    void keep_only(const VaddrRange& assembly);
    Result<> read_template(const CodeTemplate& code_template);
    Result<> add(const CodeMatch& match, std::string_view source);
    Result<std::int32_t> value(std::string_view name) const;
    Result<> take_offsets();
    Result<> take_states();
    void take_places();
    Result<> take_assembly();

    VmCode code_;
    BuildKind kind_;
    Sayings<std::int32_t> values_;
    Sayings<std::uint64_t> places_;
    VmLayout layout_;
};

Result<VmLayout> LayoutReader::read() {
    BOBBIN_CHECK(read_kind());
    if (code_.assembly) keep_only(*code_.assembly);
    BOBBIN_CHECK(read_templates());
    BOBBIN_CHECK(take_all());
    BOBBIN_CHECK(check_layout(layout_));
    return layout_;
}

Result<> LayoutReader::read_templates() {
    for (const CodeTemplate& code_template : vm_templates()) {
        BOBBIN_CHECK(read_template(code_template));
    }
    return {};
}

Result<> LayoutReader::take_all() {
    BOBBIN_CHECK(take_offsets());
    BOBBIN_CHECK(take_states());
    take_places();
    return take_assembly();
}

// The one that the code of lj_vm_call is of.
Result<> LayoutReader::read_kind() {
    std::vector<CodeMatch> calls;
    for (const BuildKind kind :
         {BuildKind{true, false}, BuildKind{true, true}, {false, false}, {false, true}}) {
        for (CodeMatch& match : CodeMatcher(kVmCall, kind).find(code_.bytes, 2)) {
            kind_ = kind;
            calls.push_back(std::move(match));
        }
    }
    if (calls.size() != 1) {
        return fail("the code of {} is there {} times", kVmCall.name, calls.size());
    }
    layout_.is_gc64 = kind_.is_gc64;
    layout_.saves_six_registers = kind_.saves_six_registers;
    return add(calls.front(), kVmCall.name);
}

void LayoutReader::keep_only(const VaddrRange& assembly) {
    const std::uint64_t size = code_.bytes.size();
    const std::uint64_t begin = std::min(
        size, assembly.begin_file_vaddr - std::min(assembly.begin_file_vaddr, code_.file_vaddr));
    const std::uint64_t end =
        std::min(size, assembly.end_file_vaddr + kFfiCallBytes - code_.file_vaddr);
    code_.bytes = code_.bytes.subspan(begin, std::max(begin, end) - begin);
    code_.file_vaddr += begin;
}

Result<> LayoutReader::read_template(const CodeTemplate& code_template) {
    const std::size_t most = code_template.hits == Hits::kAny ? kManyHits : 2;
    const auto matches = CodeMatcher(code_template, kind_).find(code_.bytes, most);
    const bool alone = code_template.hits == Hits::kOne || code_template.hits == Hits::kOneOrNone;
    if (matches.empty() && code_template.hits == Hits::kOneOrNone) return {};
    if (matches.empty()) return fail("the code of {} is not there", code_template.name);
    if (alone && matches.size() > 1)
        return fail("the code of {} is there twice", code_template.name);
    if (code_template.hits == Hits::kFirst) return add(matches.front(), code_template.name);
    for (const CodeMatch& match : matches) BOBBIN_CHECK(add(match, code_template.name));
    return {};
}

Result<> LayoutReader::add(const CodeMatch& match, std::string_view source) {
    for (const auto& [name, value] : match.values) BOBBIN_CHECK(values_.add(name, value, source));
    for (const auto& [name, place] : match.places) {
        BOBBIN_CHECK(places_.add(name, code_.file_vaddr + place, source));
    }
    return {};
}

Result<std::int32_t> LayoutReader::value(std::string_view name) const {
    const std::optional<std::int32_t> found = values_.find(name);
    if (!found) return fail("no code says {}", name);
    return *found;
}

Result<> LayoutReader::take_offsets() {
    constexpr std::int64_t kFetchedBytes = 4;
    BOBBIN_TRY(const std::int64_t dispatch, value("dispatch"));
    for (const OffsetName& entry : kOffsetNames) {
        BOBBIN_TRY(std::int64_t offset, value(entry.name));
        if (entry.from == CountsFrom::kDispatch) offset += dispatch;
        if (entry.from == CountsFrom::kNextFetch) offset += kFetchedBytes;
        if (offset != static_cast<std::int32_t>(offset)) return fail("{} is too large", entry.name);
        layout_.offsets.*entry.offset = static_cast<std::int32_t>(offset);
    }
    BOBBIN_TRY(const std::int32_t space, value("frame_space"));
    const std::int32_t words = kind_.saves_six_registers ? 7 : 5;  // with the return address
    layout_.cframe_bytes = space + words * 8;
    return {};
}

// lj_obj.h: LJ_VMST_EXIT.
Result<> LayoutReader::take_states() {
    constexpr std::int32_t kExitUpstream = 3;
    constexpr std::int32_t kExitTarantool = 5;
    BOBBIN_TRY(const std::int32_t value_of_exit, value("exit_vm_state"));
    if (~value_of_exit != kExitUpstream && ~value_of_exit != kExitTarantool) {
        return fail("the VM state of a trace exit is {}", ~value_of_exit);
    }
    layout_.states = ~value_of_exit == kExitUpstream ? VmStates::kUpstream : VmStates::kTarantool;
    return {};
}

void LayoutReader::take_places() {
    VmPlaces& places = layout_.places;
    for (const PlaceName& entry : kPlaceNames) {
        places.*entry.file_vaddr = places_.find(entry.name).value_or(0);
    }
    const std::int64_t distance = values_.find("trace_exit_call").value_or(0);
    places.trace_exit_file_vaddr =
        places.trace_exit_return_file_vaddr + static_cast<std::uint64_t>(distance);
}

// By the unwind information, else by what stands first and last.
Result<> LayoutReader::take_assembly() {
    VmPlaces& places = layout_.places;
    if (code_.assembly) {
        places.begin_file_vaddr = code_.assembly->begin_file_vaddr;
        places.end_file_vaddr = code_.assembly->end_file_vaddr;
    } else {
        const auto first = CodeMatcher(kFirstHandler, kind_).find(code_.bytes, 1);
        if (first.empty()) return fail("the code of {} is not there", kFirstHandler.name);
        if (places.ffi_call_file_vaddr == 0) return fail("nothing says where the code ends");
        places.begin_file_vaddr = code_.file_vaddr + first.front().begin;
        places.end_file_vaddr = places.ffi_call_file_vaddr;
    }
    places.helpers_end_file_vaddr =
        places.callback_file_vaddr == 0 ? places.end_file_vaddr : places.callback_file_vaddr;
    return {};
}

}  // namespace

Result<VmLayout> read_layout(const VmCode& code) { return LayoutReader(code).read(); }

}  // namespace bobbin::luajit

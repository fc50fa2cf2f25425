// SPDX-License-Identifier: Apache-2.0
#include "dwarf/function_names.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "dwarf/constants.h"
#include "dwarf/function_walk.h"

namespace bobbin::dwarf {
namespace {

// A concrete function refers to its abstract one, that to a declaration, in three units at most.
constexpr int kMaxReferences = 16;
// What is looked at of a DIE outside of the unit in hand, one after the other.
constexpr std::uint64_t kUsualDieBytes = 256;
constexpr std::uint64_t kMaxDieBytes = 65536;
// Of the scopes of a name.
constexpr std::size_t kMaxNameBytes = 4096;
constexpr std::size_t kMaxScopes = 64;

// DWARF 5 section 7.12: C in its versions, assembly. Scopes of their functions are files.
bool has_scopes(std::uint64_t language) {
    switch (language) {
        case 0x01:    // C89
        case 0x02:    // C
        case 0x0c:    // C99
        case 0x16:    // Go, whose names have their package
        case 0x1d:    // C11
        case 0x2c:    // C17
        case 0x8001:  // assembly
            return false;
        default:
            return true;
    }
}

bool is_type(std::uint16_t tag) {
    return tag == kTagClass || tag == kTagStructure || tag == kTagUnion || tag == kTagEnumeration ||
           tag == kTagInterface;
}

}  // namespace

std::uint32_t FunctionNames::number_of(const DieReference& function) {
    if (function.file == nullptr) return 0;
    const auto [known, is_new] = numbers_[function.file].try_emplace(
        function.info_offset, static_cast<std::uint32_t>(names_.size()));
    if (!is_new) return known->second;
    const std::uint32_t number = known->second;
    const Description description = describe(function);
    names_.push_back({.text = description.name});
    const bool is_complete =
        description.is_linkage_name || description.name == 0 || !has_scopes(description.language);
    if (is_complete) return number;

    const DieReference& declaration = description.declaration;
    const bool is_here = unit_ != nullptr && declaration.file == unit_->unit->file &&
                         declaration.info_offset >= unit_->unit->header.offset &&
                         declaration.info_offset < unit_->unit->header.end_offset;
    if (is_here) {
        const std::uint64_t place = declaration.info_offset - unit_->unit->header.offset;
        add_scopes(names_.back(), *unit_, *scopes_, place);
    } else {
        unscoped_.push_back({declaration, number});
    }
    return number;
}

void FunctionNames::forget(const DebugFile* file) {
    numbers_.erase(file);
    std::erase_if(unscoped_, [&](const Unscoped& name) { return name.declaration.file == file; });
    strings_.read();
}

FunctionNames::Description FunctionNames::describe(DieReference die) {
    Description description;
    for (int i = 0; i < kMaxReferences && die.file != nullptr; ++i) {
        die = describe_one(die, description);
        if (description.is_linkage_name) break;
    }
    return description;
}

DieReference FunctionNames::describe_one(const DieReference& die, Description& description) {
    if (unit_ != nullptr && die.file == unit_->unit->file &&
        die.info_offset >= unit_->unit->header.offset &&
        die.info_offset < unit_->unit->header.end_offset) {
        ByteReader reader = unit_->reader_at(die.info_offset - unit_->unit->header.offset);
        return read_die(reader, *unit_->unit, die, description);
    }
    const Unit* unit = die.file->unit_at(die.info_offset);
    if (unit == nullptr) return {};
    const std::uint64_t room = unit->header.end_offset - die.info_offset;
    for (const std::uint64_t count : {kUsualDieBytes, kMaxDieBytes}) {
        ByteReader reader(die.file->far_view(die.info_offset, std::min(room, count)));
        Description attempt = description;
        const DieReference next = read_die(reader, *unit, die, attempt);
        if (!reader.ok() && count < room) continue;
        description = attempt;
        return next;
    }
    return {};
}

void FunctionNames::read_name(ByteReader& die, const Unit& unit, const Attribute& attribute,
                              const DieReference& place, Description& description) {
    std::uint32_t text = 0;
    if (attribute.form == kFormString) {
        text = strings_.number_of(die.c_string());
    } else {
        const std::uint64_t raw = read_field(die, attribute, unit.header.encoding);
        const StringPlace string = string_place_of(unit, attribute.form, raw);
        if (string.late_section != nullptr) {
            text = strings_.number_of(*string.late_section, string.offset);
        }
    }
    if (attribute.name != kAtName) {
        if (text == 0) return;
        description.name = text;
        description.is_linkage_name = true;
        return;
    }
    // The DIE referred to last is the declaration, inside of its scopes.
    if (description.name == 0) description.name = text;
    description.declaration = place;
    description.language = unit.language;
}

DieReference FunctionNames::read_die(ByteReader& die, const Unit& unit, const DieReference& place,
                                     Description& description) {
    const Abbrev* abbrev = unit.abbrevs->find(die.uleb128());
    if (abbrev == nullptr) return {};
    DieReference next;
    for (const Attribute& attribute : unit.abbrevs->attributes_of(*abbrev)) {
        switch (attribute.name) {
            case kAtName:
            case kAtLinkageName:
            case kAtMipsLinkageName:
                read_name(die, unit, attribute, place, description);
                if (description.is_linkage_name) return {};
                break;
            case kAtAbstractOrigin:
            case kAtSpecification:
                next = reference_of(unit, attribute.form,
                                    read_field(die, attribute, unit.header.encoding));
                break;
            default:
                skip_field(die, attribute, unit.header.encoding);
                break;
        }
    }
    return next;
}

void FunctionNames::add_scopes(Name& name, const UnitBytes& unit, const ScopeIndex& scopes,
                               std::uint64_t place) {
    const std::vector<std::uint64_t> around = scopes.scopes_of(unit, place);
    budget_.spend(256);  // what is walked from the nearest mark
    name.first_scope = name_scopes_.size();
    for (const std::uint64_t scope : around) {
        const std::uint32_t text = scope_name(unit, scope);
        if (text != 0) name_scopes_.push_back(text);
        if (name_scopes_.size() - name.first_scope == kMaxScopes) break;
    }
    name.scope_count = name_scopes_.size() - name.first_scope;
}

std::string FunctionNames::operator[](std::uint32_t number) const {
    const Name& name = names_[number];
    std::string text;
    for (std::size_t i = 0; i < name.scope_count; ++i) {
        const std::string& scope = strings_[name_scopes_[name.first_scope + i]];
        if (scope.empty() || text.size() + scope.size() > kMaxNameBytes) continue;
        text.append(scope).append("::");
    }
    return text + strings_[name.text];
}

// 0: no scope of C++, as a unit or a block.
std::uint32_t FunctionNames::scope_name(const UnitBytes& unit, std::uint64_t place) {
    ByteReader start = unit.reader_at(place);
    const Abbrev* abbrev = unit.read_abbrev(start);
    if (abbrev == nullptr) return 0;
    const bool is_namespace = abbrev->tag == kTagNamespace || abbrev->tag == kTagModule;
    if (!is_namespace && !is_type(abbrev->tag) && abbrev->tag != kTagSubprogram) return 0;
    Description description;
    ByteReader die = unit.reader_at(place);
    DieReference next =
        read_die(die, *unit.unit, {unit.unit->file, unit.unit->header.offset + place}, description);
    // A function's may stand in its origin, a linkage name is no scope.
    if (description.is_linkage_name) description = {};
    for (int i = 0; i < kMaxReferences && next.file != nullptr && description.name == 0; ++i) {
        next = describe_one(next, description);
        if (description.is_linkage_name) description = {};
    }
    if (description.name != 0) return description.name;
    if (is_namespace) return strings_.number_of("(anonymous namespace)");
    return is_type(abbrev->tag) ? strings_.number_of("(anonymous)") : 0;
}

void FunctionNames::finish() {
    std::ranges::sort(unscoped_, {}, [](const Unscoped& name) {
        return std::tuple(name.declaration.file, name.declaration.info_offset, name.number);
    });
    const auto unit_of = [](const Unscoped& name) {
        return name.declaration.file->unit_at(name.declaration.info_offset);
    };
    for (auto first = unscoped_.cbegin(); first != unscoped_.cend() && budget_.look();) {
        const Unit* unit = unit_of(*first);
        const auto last = std::find_if(first, unscoped_.cend(),
                                       [&](const Unscoped& name) { return unit_of(name) != unit; });
        finish_unit(first, last);
        first = last;
    }
    unscoped_.clear();
    strings_.read();
}

void FunctionNames::finish_unit(std::vector<Unscoped>::const_iterator first,
                                std::vector<Unscoped>::const_iterator last) {
    const Unit* unit = first->declaration.file->unit_at(first->declaration.info_offset);
    if (unit == nullptr) return;
    const std::uint64_t start = unit->header.offset;
    const UnitBytes bytes{unit,
                          unit->file->sections.info.view(start, unit->header.end_offset - start)};
    ScopeIndex scopes;
    find_functions(bytes, {}, Nested::kSkip, scopes, budget_);
    set_unit(&bytes, &scopes);
    for (auto name = first; name != last && budget_.spend(1); ++name) {
        add_scopes(names_[name->number], bytes, scopes, name->declaration.info_offset - start);
    }
    set_unit(nullptr, nullptr);
}

}  // namespace bobbin::dwarf

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "dwarf/budget.h"
#include "dwarf/die_walk.h"
#include "dwarf/late_strings.h"
#include "dwarf/scope_index.h"

namespace bobbin::dwarf {

// Names of functions by their DIEs: the linkage name where there is one, else the name with the
// scopes around it, "ns::Class::name": GCC writes no linkage name for what has no linkage (lambdas,
// templates of local types). Follows abstract origins and specifications into other units and
// files. Each DIE is looked at once.
class FunctionNames {
public:
    explicit FunctionNames(Budget& budget) : budget_(budget) {}

    // The unit that is in memory, until the next call; most names lie in it.
    void set_unit(const UnitBytes* unit, const ScopeIndex* scopes) {
        unit_ = unit;
        scopes_ = scopes;
    }

    // The file will be closed: another may lie at its address soon.
    void forget(const DebugFile* file);

    // The number of a name, which finish() makes final.
    std::uint32_t number_of(const DieReference& function);

    // Scopes in units other than the one in hand are looked up here, unit by unit; then all names
    // are read.
    void finish();

    [[nodiscard]] std::string operator[](std::uint32_t number) const;

private:
    // Strings are numbers of strings_.
    struct Name {
        std::uint32_t text = 0;
        // Around it, the outermost first, in name_scopes_.
        std::size_t first_scope = 0;
        std::size_t scope_count = 0;
    };
    // A name that lacks its scopes.
    struct Unscoped {
        DieReference declaration;
        std::uint32_t number = 0;
    };
    struct Description {
        std::uint32_t name = 0;
        bool is_linkage_name = false;
        DieReference declaration;  // the DIE that `name` is of
        std::uint64_t language = 0;
    };

    Description describe(DieReference die);
    // The DIE's own part; gives the DIE that it refers to.
    DieReference describe_one(const DieReference& die, Description& description);
    DieReference read_die(ByteReader& die, const Unit& unit, const DieReference& place,
                          Description& description);
    // One of the attributes that are names.
    void read_name(ByteReader& die, const Unit& unit, const Attribute& attribute,
                   const DieReference& place, Description& description);
    void add_scopes(Name& name, const UnitBytes& unit, const ScopeIndex& scopes,
                    std::uint64_t place);
    std::uint32_t scope_name(const UnitBytes& unit, std::uint64_t place);
    void finish_unit(std::vector<Unscoped>::const_iterator first,
                     std::vector<Unscoped>::const_iterator last);

    Budget& budget_;
    const UnitBytes* unit_ = nullptr;
    const ScopeIndex* scopes_ = nullptr;
    LateStrings strings_;
    std::vector<Name> names_ = {Name()};
    std::vector<std::uint32_t> name_scopes_;
    std::unordered_map<const DebugFile*, std::unordered_map<std::uint64_t, std::uint32_t>> numbers_;
    std::vector<Unscoped> unscoped_;
};

}  // namespace bobbin::dwarf

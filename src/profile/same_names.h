// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "symbolize/named_profile.h"

namespace bobbin::profile {

// What a function, or a process, of one profile is called when it is looked for in another: of
// another build, so folders, versions of libraries and addresses differ.
//   - A module is its file without its folders and, behind ".so", its version.
//   - The one program that only the base has and the one that only the other has are the same one,
//     as is the one process name: app-1.2 and app-1.3. Programs in less than 1 % of the samples do
//     not count; with more than one each stays itself.
//   - Frames without a name are one function of their module: their offsets have moved.
class SameNames {
public:
    SameNames() = default;
    SameNames(const symbolize::NamedProfile& profile, const symbolize::NamedProfile& base);

    // Of either profile.
    [[nodiscard]] std::string module_of(const symbolize::NamedProfile& profile,
                                        const symbolize::Location& location) const;
    [[nodiscard]] std::string function_of(const symbolize::NamedProfile& profile,
                                          const symbolize::Location& location,
                                          const symbolize::Line& line) const;
    [[nodiscard]] std::string process_of(const symbolize::SampleLabels& labels) const;

private:
    using Renamed = std::map<std::string, std::string, std::less<>>;

    Renamed modules_;    // as the base calls it -> as the other does
    Renamed processes_;  // the same
};

// "/usr/lib/libz.so.1.2.13" -> "libz.so"; "/usr/bin/app" -> "app".
std::string_view module_without_version(std::string_view path);

}  // namespace bobbin::profile

// SPDX-License-Identifier: Apache-2.0
// A name of a symbol table, in both styles.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "symbolize/demangle.h"

using namespace bobbin::symbolize;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string system_name(reinterpret_cast<const char*>(data), size);
    for (const DemangleStyle style : {DemangleStyle::kSimplified, DemangleStyle::kFull}) {
        const std::string name = demangle(system_name, style);
        if (name == system_name) continue;
        // "@plt" is added again.
        if (name.size() > kMaxDemangledBytes + 4) std::abort();
        if (!may_be_mangled(system_name)) std::abort();
    }
    return 0;
}

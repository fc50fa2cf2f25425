// SPDX-License-Identifier: Apache-2.0
#include "serve/http_message.h"

#include <strings.h>

#include <algorithm>

namespace bobbin::serve {

const std::string* HttpFields::find(std::string_view name) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& field) {
        return field.first.size() == name.size() &&
               ::strncasecmp(field.first.data(), name.data(), name.size()) == 0;
    });
    return found == all_.end() ? nullptr : &found->second;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned different = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    }
    return different == 0;
}

}  // namespace bobbin::serve

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <sstream>

#include "shapes.h"

int main(int argc, char** argv) {
    std::vector<std::string> names(argv, argv + argc);
    std::vector<std::unique_ptr<shapes::Shape>> all;
    for (const std::string& name : names) {
        const double size = static_cast<double>(name.size());
        if (name.size() % 2 == 0) {
            all.push_back(std::make_unique<shapes::Circle>(size));
        } else {
            all.push_back(std::make_unique<shapes::Square>(size));
        }
    }
    std::ostringstream text;
    text << shapes::total(all) << ' ' << shapes::count(names);
    std::reverse(names.begin(), names.end());
    for (const std::string& name : names) text << ' ' << name;
    std::cout << text.str() << '\n';
    return shapes::longest(names) > 1000 ? 1 : 0;
}

// SPDX-License-Identifier: Apache-2.0
// What debugging information has trouble with: templates inlined into each other, lambdas and local
// classes without linkage, functions in two parts, a unit without code of its own.
#include "shapes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

namespace {

struct Counter {
    std::map<std::string, int> seen;
    int add(const std::string& name) {
        if (name.empty()) throw std::invalid_argument("a shape without a name");
        return ++seen[name];
    }
};

template <class Function>
[[gnu::noinline]] int apply(Function function, int times) {
    int sum = 0;
    for (int i = 0; i < times; ++i) sum += function(i);
    return sum;
}

}  // namespace

namespace shapes {

int longest(const std::vector<std::string>& names) {
    struct ByLength {
        [[gnu::noinline]] bool operator()(const std::string& a, const std::string& b) const {
            return a.size() < b.size();
        }
    };
    const auto found = std::max_element(names.begin(), names.end(), ByLength());
    return found == names.end() ? 0 : static_cast<int>(found->size());
}

int count(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    Counter counter;
    int most = 0;
    for (const std::string& name : names) most = std::max(most, counter.add(name));
    return most + apply([&](int i) { return i % 2 ? most : longest(names); }, most);
}

double Circle::area() const { return 3.14 * radius * scale(radius); }
double Square::area() const { return side * side; }

double total(const std::vector<std::unique_ptr<Shape>>& all) {
    return std::accumulate(all.begin(), all.end(), 0.0,
                           [](double sum, const auto& shape) { return sum + shape->area(); });
}

}  // namespace shapes

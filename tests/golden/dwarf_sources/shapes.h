// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace shapes {

inline double scale(double value) {
    double result = 1;
    while (result * result < value) result *= 1.5;
    return result;
}

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

struct Circle final : Shape {
    explicit Circle(double r) : radius(r) {}
    double area() const override;
    double radius;
};

struct Square final : Shape {
    explicit Square(double s) : side(scale(s)) {}
    double area() const override;
    double side;
};

int longest(const std::vector<std::string>& names);
int count(std::vector<std::string> names);
double total(const std::vector<std::unique_ptr<Shape>>& all);

}  // namespace shapes

// SPDX-License-Identifier: Apache-2.0
#include "executable/catalog.h"

#include <gtest/gtest.h>

#include <utility>

namespace bobbin::executable {
namespace {

Executable named(std::uint32_t id, const char* path) {
    Executable executable;
    executable.id = id;
    executable.path = path;
    return executable;
}

TEST(Catalog, FindsWhatWasAddedAndKeepsItInPlace) {
    Catalog catalog;
    EXPECT_EQ(catalog.find(5), nullptr);
    catalog.add(named(5, "/bin/five"));
    const Executable* const five = catalog.find(5);
    ASSERT_NE(five, nullptr);
    for (std::uint32_t id = 100; id < 1100; ++id) catalog.add(named(id, "/bin/other"));
    EXPECT_EQ(catalog.find(5), five);
    EXPECT_EQ(five->path, "/bin/five");
}

TEST(Catalog, KeepsTheFirstOfTwoWithOneId) {
    Catalog catalog;
    catalog.add(named(5, "/bin/first"));
    catalog.add(named(5, "/bin/second"));
    EXPECT_EQ(catalog.find(5)->path, "/bin/first");
}

TEST(Catalog, ListsAllById) {
    Catalog catalog;
    for (const std::uint32_t id : {30U, 10U, 20U}) catalog.add(named(id, ""));
    const auto all = catalog.all();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0]->id, 10U);
    EXPECT_EQ(all[1]->id, 20U);
    EXPECT_EQ(all[2]->id, 30U);
}

}  // namespace
}  // namespace bobbin::executable

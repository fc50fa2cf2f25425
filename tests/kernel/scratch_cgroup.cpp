// SPDX-License-Identifier: Apache-2.0
#include "kernel/scratch_cgroup.h"

#include <gtest/gtest.h>

#include <fstream>
#include <system_error>

#include "sampler/cgroup_tree.h"

namespace bobbin::test {
namespace {

std::string mount_point() {
    const auto tree = sampler::CgroupTree::open();
    EXPECT_TRUE(tree.has_value()) << tree.error().message();
    return tree ? tree->mount_point() : std::string("/nowhere");
}

void make(const std::filesystem::path& directory) {
    std::error_code problem;
    std::filesystem::create_directory(directory, problem);
    EXPECT_FALSE(problem) << "make the cgroup " << directory << ": " << problem.message();
}

}  // namespace

ScratchCgroup::ScratchCgroup(const std::string& name)
    : directory_(std::filesystem::path(mount_point()) / name), path_("/" + name) {
    make(directory_);
}

ScratchCgroup::ScratchCgroup(const ScratchCgroup& parent, const std::string& name)
    : directory_(parent.directory_ / name), path_(parent.path_ + "/" + name) {
    make(directory_);
}

ScratchCgroup::~ScratchCgroup() {
    std::ifstream processes(directory_ / "cgroup.procs");
    for (std::string process; processes >> process;) {
        std::ofstream(directory_.parent_path() / "cgroup.procs") << process;
    }
    std::error_code ignored;
    std::filesystem::remove(directory_, ignored);
}

void ScratchCgroup::take(pid_t process) const {
    std::ofstream file(directory_ / "cgroup.procs");
    file << process << std::flush;
    EXPECT_TRUE(file.good()) << "move process " << process << " to " << directory_;
}

}  // namespace bobbin::test

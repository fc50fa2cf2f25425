// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace bobbin::test {

// A cgroup of version 2 that lives as long as the object; its processes go to its parent then.
// A machine where root cannot make one fails the test.
class ScratchCgroup {
public:
    explicit ScratchCgroup(const std::string& name);                      // below the root
    ScratchCgroup(const ScratchCgroup& parent, const std::string& name);  // below another
    ScratchCgroup(const ScratchCgroup&) = delete;
    ScratchCgroup& operator=(const ScratchCgroup&) = delete;
    ~ScratchCgroup();

    void take(pid_t process) const;
    [[nodiscard]] const std::string& path() const { return path_; }  // below the hierarchy's root
    [[nodiscard]] std::string directory() const { return directory_; }

private:
    std::filesystem::path directory_;
    std::string path_;
};

}  // namespace bobbin::test

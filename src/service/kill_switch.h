// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bobbin::service {

// A file that says "do not sample". Only root's counts: /run/bobbin belongs to the service's user.
class KillSwitch {
public:
    // /run/bobbin/killswitch; for tests, BOBBIN_KILLSWITCH names another one.
    static KillSwitch find();
    explicit KillSwitch(std::string path) : path_(std::move(path)) {}

    [[nodiscard]] bool is_on() const;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace bobbin::service

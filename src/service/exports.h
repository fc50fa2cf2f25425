// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "config/daemon_config.h"
#include "push/sender.h"
#include "service/control.h"
#include "symbolize/named_profile.h"

namespace bobbin::service {

// All that profiles are sent to, as it is configured. What waits is below the store's directory, in
// push/KIND-HASH, by the URL: so it is found again whatever order the tables stand in.
class Exports {
public:
    explicit Exports(const config::DaemonConfig& config);

    // Waits for the disk at most. Any thread.
    void take(const symbolize::NamedProfile& segment);

    // The rest on one thread, the service's. What is under way is given up and waits for
    // whoever goes on with it.
    void use(const config::DaemonConfig& config);
    // So that nobody waits for it at the end.
    void request_stop();
    [[nodiscard]] std::vector<Status::Exported> facts() const;

private:
    std::mutex mutex_;  // of use() and take()
    std::vector<std::unique_ptr<push::Sender>> senders_;
    bool has_warned_ = false;
};

// Whether they send the same to the same.
bool exports_alike(const config::DaemonConfig& a, const config::DaemonConfig& b);

}  // namespace bobbin::service

// SPDX-License-Identifier: Apache-2.0
#include "service/notify.h"

#include <fmt/core.h>
#include <systemd/sd-daemon.h>

namespace bobbin::service {

void notify_ready() { ::sd_notify(0, "READY=1"); }

void notify_status(const std::string& text) { ::sd_notify(0, ("STATUS=" + text).c_str()); }

// systemd 253 asks for the time with Type=notify-reload.
void notify_reloading() {
    const std::chrono::microseconds now = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now().time_since_epoch());
    ::sd_notify(0, fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now.count()).c_str());
}

void notify_stopping() { ::sd_notify(0, "STOPPING=1"); }

void notify_alive() { ::sd_notify(0, "WATCHDOG=1"); }

std::optional<std::chrono::microseconds> watchdog_interval() {
    std::uint64_t microseconds = 0;
    if (::sd_watchdog_enabled(0, &microseconds) <= 0) return std::nullopt;
    return std::chrono::microseconds{microseconds};
}

}  // namespace bobbin::service

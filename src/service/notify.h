// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace bobbin::service {

// What the service manager is told, by sd_notify(3). Without one nobody is told. Any thread.
void notify_ready();
void notify_status(const std::string& text);
void notify_reloading();
void notify_stopping();
void notify_alive();

// How often notify_alive() is expected, at least; nullopt: not at all.
std::optional<std::chrono::microseconds> watchdog_interval();

}  // namespace bobbin::service

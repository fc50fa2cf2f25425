// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "service/control.h"

namespace bobbin::service {

// Answers HTTP while it lives: /metrics, /-/healthy, /-/ready, /debug/pprof/profile, /api/v1/ and
// /ui/. A thread for each connection, of which there is a bound. What was stored is read from
// `store_path` directly, so it does not wait for `control`.
//
// The destructor refuses new requests, has those under way given up (is_given_up of
// Control::collect answers true) and waits for them: the other calls of `control` have to return
// by themselves while it waits, so do not destroy this on the thread that has to answer them,
// unless it refuses them by then.
class HttpService {
public:
    // `listen` as in DaemonConfig::Http; "": nobody is answered. A socket file that a dead process
    // left is taken away; one that is answered is an error (EADDRINUSE).
    static Result<HttpService> start(const std::string& listen, Control& control,
                                     std::string store_path);
    HttpService(HttpService&& other) noexcept;
    HttpService& operator=(HttpService&& other) noexcept;
    ~HttpService();

    // "unix:/run/bobbin/bobbin.sock" or "http://127.0.0.1:7273/"; with a port that was asked for
    // as 0, the one that was free. Empty: nobody is answered.
    [[nodiscard]] const std::string& place() const;

private:
    struct State;
    explicit HttpService(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace bobbin::service

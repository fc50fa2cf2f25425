// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "service/control.h"

namespace bobbin::test {

// A service that samples nothing: it remembers what it was asked, and gives what it was told to.
class FakeControl : public service::Control {
public:
    service::Status current;
    symbolize::NamedProfile profile;
    Result<> outcome;  // of boost, pause, resume and reload
    bool collects_until_given_up = false;

    [[nodiscard]] std::vector<std::string> calls() {
        const std::lock_guard lock(mutex_);
        return calls_;
    }

    service::Status status() override { return current; }
    Result<symbolize::NamedProfile> collect(std::chrono::nanoseconds duration,
                                            const store::Where& where,
                                            const std::function<bool()>& is_given_up) override {
        note("collect", duration, where);
        while (collects_until_given_up && !is_given_up()) std::this_thread::yield();
        if (collects_until_given_up) note("given up");
        return profile;
    }
    Result<symbolize::NamedProfile> last(std::chrono::nanoseconds duration,
                                         const store::Where& where) override {
        note("last", duration, where);
        return profile;
    }
    Result<> boost(std::uint32_t hz, std::chrono::nanoseconds duration) override {
        note("boost " + std::to_string(hz), duration, {});
        return outcome;
    }
    Result<> pause() override { return note("pause"); }
    Result<> resume() override { return note("resume"); }
    Result<> reload() override { return note("reload"); }

private:
    Result<> note(std::string call) {
        const std::lock_guard lock(mutex_);
        calls_.push_back(std::move(call));
        return outcome;
    }
    // "last 600000 ms": a condition follows where there is one.
    void note(const std::string& call, std::chrono::nanoseconds duration,
              const store::Where& where) {
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
        note(call + " " + std::to_string(ms) + " ms" +
             (where.is_everything() ? "" : " of some samples"));
    }

    std::mutex mutex_;
    std::vector<std::string> calls_;
};

}  // namespace bobbin::test

// SPDX-License-Identifier: Apache-2.0
#include "service/service_control.h"

#include <cerrno>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "profile/merge_profiles.h"
#include "service/service.h"
#include "store/cut_to_range.h"
#include "store/store.h"

namespace bobbin::service {
namespace {

// How often somebody who may give up is asked.
constexpr std::chrono::milliseconds kGiveUpInterval{100};

class ServiceControl final : public Control {
public:
    explicit ServiceControl(Service& service) : service_(service) {}

    Status status() override {
        auto status =
            service_.questions().ask([this]() -> Result<Status> { return service_.status(); });
        return status ? std::move(*status) : Status{};
    }

    Result<symbolize::NamedProfile> collect(std::chrono::nanoseconds duration,
                                            const store::Where& where,
                                            const std::function<bool()>& is_given_up) override {
        BOBBIN_TRY(const int number, service_.questions().ask([this]() -> Result<int> {
            return service_.begin_collecting();
        }));
        wait_for(duration, is_given_up);
        BOBBIN_TRY(Parts parts, service_.questions().ask([this, number]() -> Result<Parts> {
            return service_.end_collecting(number);
        }));
        BOBBIN_TRY(auto profile, name(std::move(parts)));
        where.keep_matching(profile);
        return profile;
    }

    Result<symbolize::NamedProfile> last(std::chrono::nanoseconds duration,
                                         const store::Where& where) override {
        std::string store_path;
        // Before the store is read: what is stored meanwhile is then only here.
        BOBBIN_TRY(Parts parts, service_.questions().ask([&]() -> Result<Parts> {
            store_path = service_.store_path();
            return service_.recent_parts();
        }));
        const auto now = std::chrono::system_clock::now();
        const store::Range range{
            .begin = now - std::chrono::duration_cast<store::Time::duration>(duration),
            .end = parts.empty() ? now : parts.front()->begin};
        BOBBIN_TRY(auto recent, name(std::move(parts)));
        store::cut_to_range({range.begin, now}, recent);
        where.keep_matching(recent);
        if (range.begin >= range.end) return recent;
        BOBBIN_TRY(const store::StoreReader reader, store::StoreReader::open(store_path));
        BOBBIN_TRY(const auto stored, reader.read(range, where));
        profile::ProfileMerger merger;
        if (!stored.stacks.empty()) merger.add(stored);
        if (!recent.stacks.empty()) merger.add(recent);
        return merger.take();
    }

    Result<> boost(std::uint32_t hz, std::chrono::nanoseconds duration) override {
        return service_.questions().ask(
            [this, hz, duration] { return service_.boost(hz, duration); });
    }
    Result<> pause() override {
        return service_.questions().ask([this] { return service_.pause(true); });
    }
    Result<> resume() override {
        return service_.questions().ask([this] { return service_.pause(false); });
    }
    Result<> reload() override {
        return service_.questions().ask([this] { return service_.reload(); });
    }

private:
    void wait_for(std::chrono::nanoseconds duration, const std::function<bool()>& is_given_up) {
        const auto end = std::chrono::steady_clock::now() + duration;
        while (!service_.questions().is_closed() && !is_given_up()) {
            const auto left = end - std::chrono::steady_clock::now();
            if (left.count() <= 0) return;
            std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kGiveUpInterval));
        }
    }

    Result<symbolize::NamedProfile> name(Parts parts) {
        auto answer = service_.namer().name(std::move(parts));
        while (answer.wait_for(kGiveUpInterval) != std::future_status::ready) {
            if (service_.questions().is_closed()) return fail_with(ESHUTDOWN, "ask the service");
        }
        return answer.get();
    }

    Service& service_;
};

}  // namespace

std::unique_ptr<Control> make_control(Service& service) {
    return std::make_unique<ServiceControl>(service);
}

}  // namespace bobbin::service

// SPDX-License-Identifier: Apache-2.0
#include "service/journal_log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace bobbin::service {
namespace {

class JournalLevel final : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
                spdlog::memory_buf_t& to) override {
        const std::string_view prefix = prefix_of(message.level);
        to.append(prefix.data(), prefix.data() + prefix.size());
    }
    [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
        return std::make_unique<JournalLevel>();
    }

private:
    static std::string_view prefix_of(spdlog::level::level_enum level) {
        switch (level) {
            case spdlog::level::critical:
                return SD_CRIT;
            case spdlog::level::err:
                return SD_ERR;
            case spdlog::level::warn:
                return SD_WARNING;
            case spdlog::level::info:
                return SD_INFO;
            default:
                return SD_DEBUG;
        }
    }
};

}  // namespace

void log_as_service() {
    if (std::getenv("BOBBIN_LOG") == nullptr) spdlog::set_level(spdlog::level::info);
    if (std::getenv("JOURNAL_STREAM") == nullptr) return;
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<JournalLevel>('*').set_pattern("%*%v");
    spdlog::set_formatter(std::move(formatter));
}

}  // namespace bobbin::service

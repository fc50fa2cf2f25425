// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind_walk.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace bobbin::daemon {
namespace {

constexpr std::chrono::milliseconds kAnnouncementTimeout{100};
// The image has two pages on every x86-64 kernel so far.
constexpr std::size_t kMaxVdsoBytes = 16 * 4096;

// As many as there are CPUs, but four do: all of /usr takes less than 2 s of CPU time (350 MB/s to
// parse its 136 MB, 154 MB/s to pack them).
unsigned builder_count() { return std::clamp(std::thread::hardware_concurrency(), 1U, 4U); }

}  // namespace

UnwindWalk::UnwindWalk(const sampler::BpfProgram& program, executable::Catalog& catalog)
    : kernel_(program), feed_(kernel_, shared_rules_, catalog) {}

Result<std::unique_ptr<UnwindWalk>> UnwindWalk::start(sampler::BpfProgram& program,
                                                      executable::Catalog& catalog,
                                                      std::chrono::milliseconds patience) {
    std::unique_ptr<UnwindWalk> walk(new UnwindWalk(program, catalog));
    UnwindWalk& self = *walk;
    BOBBIN_TRY(auto announcements,
               sampler::RingBuffer::open(
                   program.announcements_fd(), [&self](std::span<const std::byte> record) {
                       if (const auto announcement = executable::parse_announcement(record)) {
                           self.open_one(*announcement);
                       }
                   }));
    self.announcements_ = std::move(announcements);
    BOBBIN_CHECK(self.build_vdso());
    self.publisher_ = std::jthread([&self](std::stop_token stop) { self.run_publisher(stop); });
    for (unsigned i = 0; i < builder_count(); ++i) {
        self.builders_.emplace_back([&self](std::stop_token stop) { self.run_builder(stop); });
    }
    BOBBIN_CHECK(self.publish_running(program, patience));
    self.opener_ = std::jthread([&self](std::stop_token stop) { self.run_opener(stop); });
    return walk;
}

// The opener does not run yet: this thread opens, so nothing is announced and not counted as
// pending.
Result<> UnwindWalk::publish_running(sampler::BpfProgram& program,
                                     std::chrono::milliseconds patience) {
    BOBBIN_CHECK(program.announce_running());
    BOBBIN_CHECK(announcements_->read(std::chrono::milliseconds{0}));
    std::unique_lock lock(pending_mutex_);
    if (!nothing_pending_.wait_for(lock, patience, [this] { return pending_count_ == 0; })) {
        spdlog::warn("{} files are still being read; sampling starts without them", pending_count_);
    }
    return {};
}

void UnwindWalk::open_one(const abi::announcement& announcement) {
    {
        const std::scoped_lock lock(pending_mutex_);
        ++pending_count_;
    }
    auto opened = executable::open_announced(announcement);
    if (opened) {
        opened_.push(std::move(*opened));
        return;
    }
    spdlog::debug("{}", opened.error().message());
    ++lost_file_count_;
    built_.push(announcement);
}

void UnwindWalk::run_opener(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        if (const auto read = announcements_->read(kAnnouncementTimeout); !read) {
            spdlog::error("{}", read.error().message());
            return;
        }
    }
}

void UnwindWalk::run_builder(const std::stop_token& stop) {
    while (auto file = opened_.pop(stop)) {
        built_.push(executable::build_executable(std::move(*file), shared_rules_));
    }
}

void UnwindWalk::run_publisher(const std::stop_token& stop) {
    while (auto publication = built_.pop(stop)) {
        auto* const built = std::get_if<executable::BuiltExecutable>(&*publication);
        const auto published = built != nullptr
                                   ? feed_.publish(std::move(*built))
                                   : feed_.forget(std::get<abi::announcement>(*publication));
        if (!published) spdlog::warn("{}", published.error().message());
        finish_one();
    }
}

// Read as a file, because nothing says how long the image is: reading ends where the mapping does.
Result<> UnwindWalk::build_vdso() {
    const auto start = ::getauxval(AT_SYSINFO_EHDR);
    if (start == 0) return {};
    const UniqueFd memory(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
    if (!memory.is_open()) return fail_with(errno, "open /proc/self/mem");
    std::vector<std::byte> image(kMaxVdsoBytes);
    const auto length =
        ::pread(memory.get(), image.data(), image.size(), static_cast<off_t>(start));
    if (length < 0) return fail_with(errno, "read the vdso");
    image.resize(static_cast<std::size_t>(length));
    {
        const std::scoped_lock lock(pending_mutex_);
        ++pending_count_;
    }
    built_.push(executable::build_vdso(image, shared_rules_));
    return {};
}

void UnwindWalk::finish_one() {
    const std::scoped_lock lock(pending_mutex_);
    if (--pending_count_ == 0) nothing_pending_.notify_all();
}

}  // namespace bobbin::daemon

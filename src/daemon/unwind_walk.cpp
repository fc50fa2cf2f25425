// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind_walk.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/parse_number.h"
#include "base/unique_fd.h"
#include "executable/file_status.h"

namespace bobbin::daemon {
namespace {

// How often the feed gets a look at what changed without it.
constexpr std::chrono::milliseconds kFeedInterval{1000};
// The image has two pages on every x86-64 kernel so far.
constexpr std::size_t kMaxVdsoBytes = 16 * 4096;
constexpr std::size_t kMaxHeldFiles = 4096;

// As many as there are CPUs, but four do: all of /usr takes less than 2 s of CPU time (350 MB/s to
// parse its 136 MB, 154 MB/s to pack them).
unsigned builder_count() { return std::clamp(std::thread::hardware_concurrency(), 1U, 4U); }

// For tests: BOBBIN_HOLD_SECONDS is how long a file may keep its file system from being unmounted.
std::chrono::seconds hold_time() {
    constexpr std::chrono::seconds kHoldTime{30};
    const auto seconds = number_in_environment<unsigned>("BOBBIN_HOLD_SECONDS");
    return seconds ? std::chrono::seconds{*seconds} : kHoldTime;
}

// Half of the descriptors are left for everything else.
executable::HoldLimits hold_limits() {
    executable::HoldLimits limits{.max_count = kMaxHeldFiles, .hold_for = hold_time()};
    rlimit descriptors{};
    if (::getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
        limits.max_count = std::min<std::size_t>(limits.max_count, descriptors.rlim_cur / 2);
    }
    const UniqueFd root(executable::open_place("/"));
    if (const auto status = executable::status_of(root.get())) {
        limits.never_unmounted_device = status->device;
    }
    return limits;
}

void hold_executed_files(FilesInFlight& files) {
    auto events = executable::ExecEvents::open();
    if (!events) {
        spdlog::debug("files are not held from their exec on: {}", events.error().message());
        return;
    }
    files.exec_events.emplace(std::move(*events));
}

std::size_t words_to_write(const Publication& publication) {
    const auto* const built = std::get_if<executable::BuiltExecutable>(&publication);
    return built != nullptr && built->table ? built->table->words.size() : 0;
}

}  // namespace

UnwindWalk::UnwindWalk(const sampler::BpfProgram& program, executable::Catalog& catalog,
                       std::uint64_t max_table_bytes, std::uint64_t max_memory_bytes)
    : files_(std::make_shared<FilesInFlight>(hold_limits(), max_memory_bytes)),
      kernel_(program),
      feed_(kernel_, files_->shared_rules, catalog, max_table_bytes, files_->known_tables) {}

Result<std::unique_ptr<UnwindWalk>> UnwindWalk::start(sampler::BpfProgram& program,
                                                      executable::Catalog& catalog,
                                                      std::uint64_t max_table_bytes,
                                                      std::uint64_t max_memory_bytes,
                                                      std::chrono::milliseconds patience) {
    std::unique_ptr<UnwindWalk> walk(
        new UnwindWalk(program, catalog, max_table_bytes, max_memory_bytes));
    hold_executed_files(*walk->files_);
    BOBBIN_TRY(walk->opener_, FileOpener::open(program.announcements_fd(), walk->files_));
    BOBBIN_CHECK(walk->build_vdso());
    walk->start_threads();
    BOBBIN_CHECK(walk->publish_running(program, patience));
    return walk;
}

void UnwindWalk::start_threads() {
    builders_.emplace(files_, builder_count());
    keeper_.emplace(files_, *builders_);
    publisher_ = std::jthread([this](const std::stop_token& stop) { run_publisher(stop); });
    keeper_thread_ = std::jthread([this](const std::stop_token& stop) { keeper_->run(stop); });
    opener_thread_ =
        std::jthread([opener = opener_](const std::stop_token& stop) { opener->run(stop); });
}

UnwindWalk::~UnwindWalk() {
    const std::string lost = executable::describe(files_->lost_files());
    spdlog::debug("{}; {} claimed from exec events, {} events lost, {} files held, {} dropped",
                  lost.empty() ? "0 files lost" : lost, files_->claimed_count(),
                  files_->exec_events ? files_->exec_events->overflow_count() : 0,
                  files_->held.held_count(), files_->held.dropped_count());
    spdlog::debug("{}", ready_times_.describe());
}

Result<> UnwindWalk::publish_running(sampler::BpfProgram& program,
                                     std::chrono::milliseconds patience) {
    BOBBIN_CHECK(program.announce_running());
    if (!wait_until_nothing_pending(std::chrono::steady_clock::now() + patience)) {
        spdlog::warn("{} files are still being read; sampling starts without them",
                     files_->pending.count());
    }
    return {};
}

void UnwindWalk::run_publisher(const std::stop_token& stop) {
    auto next_look = std::chrono::steady_clock::now() + kFeedInterval;
    while (!stop.stop_requested()) {
        publish_all(files_->built.pop_all(stop, kFeedInterval));
        if (const auto now = std::chrono::steady_clock::now(); now >= next_look) {
            feed_.look_again();
            next_look = now + kFeedInterval;
        }
    }
}

// The large ones last: only they may wait for the kernel, which takes 16 ms.
void UnwindWalk::publish_all(std::deque<Publication> publications) {
    std::ranges::stable_sort(publications, {}, words_to_write);
    for (Publication& publication : publications) {
        if (const auto published = publish(std::move(publication)); !published) {
            spdlog::warn("{}", published.error().message());
        }
        files_->pending.finish(1);
    }
}

Result<> UnwindWalk::publish(Publication publication) {
    if (const auto* const announcement = std::get_if<abi::announcement>(&publication)) {
        return feed_.forget(*announcement);
    }
    auto& built = std::get<executable::BuiltExecutable>(publication);
    files_->held.add(built.executable.file, std::chrono::steady_clock::now());
    const std::uint32_t id = built.executable.id;
    const executable::Announced announced = built.announced;
    BOBBIN_CHECK(feed_.publish(std::move(built)));
    if (feed_.state_of(id) == abi::FILE_READY) {
        ready_times_.note(announced, unwind_feed::monotonic_now());
    }
    return {};
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
    files_->pending.add();
    files_->built.push(executable::build_vdso(image, files_->shared_rules));
    return {};
}

}  // namespace bobbin::daemon

// SPDX-License-Identifier: Apache-2.0
#include "store/cpu_sums.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/byte_reader.h"
#include "store/cpu_series.h"
#include "store/packing.h"

namespace bobbin::store {
namespace {

using std::chrono::seconds;

constexpr int kSumsLevel = 3;  // of zstd
// Beyond a hundred years from 1970, and a step of as much, it is damage.
constexpr std::uint64_t kMostSumSeconds = 100ULL * 366 * 86'400;

// Without owners. The last span of samples may reach behind the profile's end.
CpuSums steps_of(const symbolize::NamedProfile& profile) {
    const auto started = profile.started.time_since_epoch();
    const auto end = started + profile.duration + profile.time_bucket;
    CpuSums sums{.step = CpuSums::kStep, .units = {}, .processes = {}};
    for (;; sums.step *= 12) {
        const auto first = started / sums.step;
        sums.begin = Time(first * sums.step);
        sums.step_count = static_cast<std::size_t>(end / sums.step - first + 1);
        if (sums.step_count <= CpuSums::kMaxSteps) return sums;
    }
}

// In the order of CpuSeries: most first, the rest last.
std::vector<CpuSums::Owner> owners_of(const symbolize::NamedProfile& profile, const Range& range,
                                      seconds step, StoreReader::By by) {
    CpuSeries series(range, step, by);
    series.add(profile);
    std::vector<CpuSums::Owner> owners;
    for (const StoreReader::Series& one : series.take(CpuSums::kMaxOwners)) {
        CpuSums::Owner& owner = owners.emplace_back(CpuSums::Owner{.name = one.name, .cpu_us = {}});
        for (const double cores : one.cores) {
            const double cpu_s = cores * static_cast<double>(step.count());
            owner.cpu_us.push_back(static_cast<std::uint64_t>(std::llround(cpu_s * 1e6)));
        }
    }
    return owners;
}

bool is_empty_in(const std::vector<CpuSums::Owner>& owners, std::size_t step) {
    return std::ranges::all_of(
        owners, [step](const CpuSums::Owner& owner) { return owner.cpu_us[step] == 0; });
}

// So that sums reach behind their segment only where its samples do. Owners have the same steps by
// unit and by process.
void cut_empty_end(CpuSums& sums) {
    while (sums.step_count != 0 && is_empty_in(sums.units, sums.step_count - 1)) --sums.step_count;
    for (auto* owners : {&sums.units, &sums.processes}) {
        for (CpuSums::Owner& owner : *owners) owner.cpu_us.resize(sums.step_count);
    }
}

// As DWARF 5 section 7.6 has it.
void append_number(std::string& text, std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) text += static_cast<char>(number | 0x80);
    text += static_cast<char>(number);
}

void append_owners(std::string& text, const std::vector<CpuSums::Owner>& owners) {
    append_number(text, owners.size());
    for (const CpuSums::Owner& owner : owners) {
        append_number(text, owner.name.size());
        text += owner.name;
        for (const std::uint64_t cpu_us : owner.cpu_us) append_number(text, cpu_us);
    }
}

std::vector<CpuSums::Owner> read_owners(ByteReader& reader, std::size_t step_count) {
    std::vector<CpuSums::Owner> owners;
    for (std::uint64_t left = reader.uleb128(); left != 0 && reader.ok(); --left) {
        const auto name = reader.bytes(reader.uleb128());
        CpuSums::Owner owner;
        owner.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
        owner.cpu_us.reserve(step_count);
        for (std::size_t i = 0; i < step_count; ++i) owner.cpu_us.push_back(reader.uleb128());
        owners.push_back(std::move(owner));
    }
    return owners;
}

}  // namespace

CpuSums sum_cpu(const symbolize::NamedProfile& profile) {
    CpuSums sums = steps_of(profile);
    const Range range{.begin = sums.begin, .end = sums.end()};
    sums.units = owners_of(profile, range, sums.step, StoreReader::By::kUnit);
    sums.processes = owners_of(profile, range, sums.step, StoreReader::By::kComm);
    cut_empty_end(sums);
    return sums;
}

Result<std::string> encode_cpu_sums(const CpuSums& sums) {
    std::string text;
    const auto since_1970 = std::chrono::floor<seconds>(sums.begin).time_since_epoch();
    append_number(text, static_cast<std::uint64_t>(since_1970.count()));
    append_number(text, static_cast<std::uint64_t>(sums.step.count()));
    append_number(text, sums.step_count);
    append_owners(text, sums.units);
    append_owners(text, sums.processes);
    return pack(text, kSumsLevel);
}

Result<CpuSums> decode_cpu_sums(std::string_view packed) {
    BOBBIN_TRY(const std::string text, unpack(packed, kMaxPackedSumsBytes));
    ByteReader reader(std::as_bytes(std::span(text)));
    const std::uint64_t begin_s = reader.uleb128();
    const std::uint64_t step_s = reader.uleb128();
    const std::uint64_t step_count = reader.uleb128();
    const bool is_right = begin_s <= kMostSumSeconds && step_s != 0 && step_s <= kMostSumSeconds &&
                          step_count <= CpuSums::kMaxSteps;
    if (!is_right) return fail("no sums of CPU time");
    CpuSums sums{.begin = Time(seconds{begin_s}),
                 .step = seconds{step_s},
                 .step_count = static_cast<std::size_t>(step_count),
                 .units = {},
                 .processes = {}};
    sums.units = read_owners(reader, sums.step_count);
    sums.processes = read_owners(reader, sums.step_count);
    if (!reader.ok()) return fail("sums of CPU time end early");
    return sums;
}

}  // namespace bobbin::store

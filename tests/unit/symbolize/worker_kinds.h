// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bobbin::symbolize {

// What worker.cpp does when it is asked for names, by what it is told of memory; a larger number is
// the memory of the real one.
enum WorkerKind : std::uint64_t {
    kCrashes,
    kCrashesOnDebugInformation,
    kHangs,
    kAnswersNonsense,
    kPromisesTooMuch,
    kSendsAnUnknownMessage,
    kAsksForWhatItNamed,  // by the path of the object, and says whether it got it
};
inline constexpr std::uint64_t kLastWorkerKind = kAsksForWhatItNamed;

}  // namespace bobbin::symbolize

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "aggregate/stack_counts.h"
#include "executable/catalog.h"
#include "symbolize/code_maps.h"
#include "symbolize/demangle.h"
#include "symbolize/kernel_lines.h"
#include "symbolize/kernel_symbolizer.h"
#include "symbolize/name_executable.h"
#include "symbolize/name_generated.h"
#include "symbolize/named_profile.h"
#include "symbolize/symbolizer.h"

namespace bobbin::symbolize {

// Labels that a sample cannot carry itself: cgroup, unit, container. Asked once a SampleOwner.
using OwnerLabels = std::function<void(const aggregate::SampleOwner&, SampleLabels&)>;

enum class Names {
    kResolve,
    kSkip,  // addresses only: the user is in a hurry (second Ctrl-C)
};

// Where names come from, besides the kernel.
struct NameSources {
    NameExecutable name_executable = name_in_this_process;
    KernelDebugInfo kernel;
    // Borrowed: one that is asked again later. Without it there is a new one, with `kernel`.
    KernelSymbolizer* kernel_symbolizer = nullptr;
    CodeMapsOf code_maps_of;  // without it generated code stays without names
    ReadCodeMap read_code_map = symbolize::read_code_map;
    DemangleNames demangle = demangle_in_this_process;  // without it names are the symbols'
};

// Turns counted stacks into the profile model: every address of every object is named in one batch,
// so that each file is opened once. A file that cannot be read costs its own names only; its frames
// are called "module+0xoffset". Labels and files come from `labels_of` and `sources` only.
// Fills all of NamedProfile but period, values, started, duration and comments.
NamedProfile name_stacks(const aggregate::CountedStacks& counted,
                         const executable::Catalog& catalog, const OwnerLabels& labels_of,
                         Names names, const NameSources& sources = {});

}  // namespace bobbin::symbolize

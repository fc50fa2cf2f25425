// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "push/target.h"
#include "symbolize/named_profile.h"

namespace bobbin::push {

// The part of a profile that a back end stores under one name.
struct Series {
    Labels labels;  // service_name among them
    symbolize::NamedProfile profile;
};

// What a sample belongs to: its systemd unit, else its container, else its process's name.
std::string service_name(const symbolize::SampleLabels& labels);

// A series for each service_name, by name, with `labels` too. Each has what its stacks refer to.
std::vector<Series> split_by_service(const symbolize::NamedProfile& profile, const Labels& labels);

}  // namespace bobbin::push

// SPDX-License-Identifier: Apache-2.0
#include "push/back_end.h"

namespace bobbin::push {

Result<std::vector<Request>> make_requests(const Target& target,
                                           const symbolize::NamedProfile& profile,
                                           const Labels& labels) {
    if (profile.stacks.empty()) return std::vector<Request>{};
    switch (target.kind) {
        case Target::Kind::kPyroscope:
            return pyroscope_requests(target, split_by_service(profile, labels));
        case Target::Kind::kParca:
            return parca_requests(target, split_by_service(profile, labels));
        case Target::Kind::kOtlp:
            return otlp_requests(target, profile, labels);
        case Target::Kind::kS3:
            break;
    }
    return s3_requests(target, profile, labels);
}

}  // namespace bobbin::push

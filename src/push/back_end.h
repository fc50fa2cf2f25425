// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/result.h"
#include "push/service_series.h"
#include "push/target.h"
#include "symbolize/named_profile.h"

namespace bobbin::push {

// The requests that bring a profile to its target, in the order that they are to be sent; none
// where there is nothing to send.
Result<std::vector<Request>> make_requests(const Target& target,
                                           const symbolize::NamedProfile& profile,
                                           const Labels& labels);

// One request a series, POST /ingest (grafana.com/docs/pyroscope: server HTTP API); by kPushPath
// one for all, Connect's JSON of push.v1.PushRequest (grafana/pyroscope, api/push/v1/push.proto).
Result<std::vector<Request>> pyroscope_requests(const Target& target,
                                                const std::vector<Series>& all);

// POST /api/profiles/writeraw: JSON of parca.profilestore.v1alpha1.WriteRawRequest
// (parca-dev/parca, proto/parca/profilestore/v1alpha1/profilestore.proto).
Result<std::vector<Request>> parca_requests(const Target& target, const std::vector<Series>& all);

// POST /v1development/profiles: a resource for each service_name (proto/otlp_profiles.proto).
Result<std::vector<Request>> otlp_requests(const Target& target,
                                           const symbolize::NamedProfile& profile,
                                           const Labels& labels);

// PUT of the whole profile under PREFIX/host=H/date=2026-11-22/103000.000.pb.gz, of UTC. Bytes are
// those of `bobbin convert`, so that what reads files reads these.
Result<std::vector<Request>> s3_requests(const Target& target,
                                         const symbolize::NamedProfile& profile,
                                         const Labels& labels);

}  // namespace bobbin::push

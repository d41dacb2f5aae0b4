// SPDX-License-Identifier: Apache-2.0
// The JSON of a cluster: what `muster resolve --output json` prints and
// `--cluster FILE` reads.
//
//   {"schema": "muster.cluster/1",
//    "members": [{"rank": 0, "task": "worker", "index": 0,
//                 "address": {"value": "10.0.0.7:8476", "source": "…"}}, …],
//    "self": {"value": 0, "source": "…"},
//    "coordinator": {"value": "10.0.0.7:8476", "source": "…"},
//    "size": {"value": 2, "source": "…"},
//    "one_host": false}
//
// What no source tells is null. A document written by hand may leave out all
// but the members, and of a member all but the address; a value may stand alone
// ("address": "10.0.0.7:8476"): its source is then the document.
#pragma once

#include <string_view>

#include "base/json_fwd.h"
#include "muster/cluster.h"

namespace muster {

Json ToJson(const Cluster& cluster);

// `what` names the document ("`cluster.json`") in messages, and is the source
// of values that stand alone. cluster-spec-invalid names the place
// ("members[1].address") and what is wrong there, an unknown key with the one
// that was probably meant; also what CheckMembers says.
Result<Cluster> ClusterFromJson(const Json& json, std::string_view what);

}  // namespace muster

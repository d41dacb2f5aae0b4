// SPDX-License-Identifier: Apache-2.0
// The JSON in frames of the mesh: who calls, who answers, what a member saw,
// how fast a link is. Off loopback nobody has proved who sent it. The first
// byte picks what it is read as.
#include <map>
#include <string>

#include "base/json.h"
#include "muster/cluster.h"
#include "netcheck/bandwidth/bandwidth.h"
#include "netcheck/bandwidth/bandwidth_judge.h"
#include "netcheck/diagnosis/mesh_findings.h"
#include "netcheck/mesh/dialer.h"
#include "netcheck/mesh/mesh.h"
#include "netcheck/mesh/peer_json.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace muster::netcheck;  // NOLINT(google-build-using-namespace)

muster::Cluster TwoMembers() {
  muster::Cluster cluster;
  for (int rank = 0; rank < 2; ++rank) {
    cluster.members.push_back(
        {.rank = rank,
         .index = rank,
         .address = muster::Sourced<muster::Address>{
             {.host = "10.0.0." + std::to_string(rank + 1), .port = 8476},
             "flag --hosts"}});
  }
  return cluster;
}

// Strictly: what is sent on is UTF-8.
muster::Json Again(const auto& value) {
  return *muster::ParseJson(ToJson(value).dump(),
                            muster::Cause::kNetWrongEndpoint, "again");
}

void CheckFindings(const auto& judged) {
  for (const muster::Finding& finding : judged.findings) {
    CheckPrintable(RenderText(finding, {}));
  }
  CheckPrintable(judged.detail);
  for (const std::string& line : judged.lines) {
    CheckPrintable(line);
  }
}

void Row(const muster::Json& json) {
  auto row = MeshRowFromJson(json);
  if (!row) {
    return CheckError(row.error());
  }
  const auto again = MeshRowFromJson(Again(*row));
  MUSTER_CHECK(again && *again == *row);
  const muster::Cluster cluster = TwoMembers();
  KeepRanksBelow(2, *row);
  std::map<int, MeshRow> rows{{0, {.rank = 0, .host = "a", .final = true}}};
  rows[1] = *row;
  CheckFindings(JudgeMesh(cluster, rows, {}));
  static_cast<void>(PathsToJson(rows).dump());
}

void Bandwidths(const muster::Json& json) {
  auto outcome = BandwidthOutcomeFromJson(json);
  if (!outcome) {
    return CheckError(outcome.error());
  }
  const muster::Json written = ToJson(*outcome);
  MUSTER_CHECK(ToJson(*BandwidthOutcomeFromJson(Again(*outcome))) == written);
  KeepRanksBelow(2, *outcome);
  CheckFindings(JudgeBandwidths(TwoMembers(), *outcome, 1 << 20, {}));
  static_cast<void>(LinksToRepeat(*outcome));
}

void Handshake(const muster::Json& json) {
  // No digest is as long: the list is written too.
  const std::string other(100, 'x');
  const auto who = MeshIdentityFromJson(json);
  if (who) {
    CheckPrintable(who->Who());
    const auto again =
        MeshIdentityFromJson(muster::Json::parse(ToJson(*who, other).dump()));
    MUSTER_CHECK(again && again->members == who->members);
    MUSTER_CHECK(ToJson(*again, other) == ToJson(*who, other));
  } else {
    CheckError(who.error());
  }
  if (const auto welcome = WelcomeFromJson(json); !welcome) {
    CheckError(welcome.error());
  }
}

}  // namespace

void Fuzz(const std::string& bytes) {
  if (bytes.empty()) {
    return;
  }
  const muster::Json json = JsonOfFrame(bytes.substr(1));
  switch (static_cast<unsigned char>(bytes[0]) % 3) {
    case 0:
      return Row(json);
    case 1:
      return Bandwidths(json);
    default:
      return Handshake(json);
  }
}

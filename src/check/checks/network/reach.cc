// SPDX-License-Identifier: Apache-2.0
// Every member reaches every other, both ways, as who it claims to be. Its name
// stands behind network.ports, which needs the ports free that this listens on.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "check/check.h"
#include "check/facts/mesh_identity.h"
#include "check/facts/shared_files.h"
#include "netcheck/diagnosis/mesh_findings.h"
#include "netcheck/mesh/prober.h"
#include "netcheck/mesh/schedule.h"

namespace muster::check::network_reach {
namespace {

constexpr std::chrono::seconds kLongestWait{100};
constexpr std::chrono::seconds kDeadline{120};
// Judging what was seen, on a busy host.
constexpr std::chrono::seconds kForTheRest{8};

std::string DataOf(const netcheck::MeshOutcome& outcome) {
  Json members = Json::array();
  for (const auto& [rank, row] : outcome.rows) {
    members.push_back({{"rank", rank},
                       {"host", row.host},
                       {"versions", row.versions},
                       {"files", row.files}});
  }
  return Dump(
      Json{{"paths", netcheck::PathsToJson(outcome.rows)},
           {"members", std::move(members)},
           {"members_heard", outcome.rows.size()},
           {"seconds_since_roll_call",
            std::chrono::duration<double>(outcome.since_roll_call).count()}});
}

Outcome Look(const Context& context) {
  const Deadline deadline = Deadline::After(kDeadline - kForTheRest);
  const Cluster& cluster = *context.cluster;
  auto signer = MeshSigner(*context.mesh);
  if (!signer) {
    return Judge({FromError(signer.error())}, "");
  }
  SharedFiles files = DigestSharedFiles(context);
  netcheck::MeshOptions options{
      .cluster = cluster,
      .self = MeshSelf(context),
      .signer = *std::move(signer),
      .wait = std::min<Duration>(context.mesh->wait, kLongestWait),
      .versions = MeshVersions(context),
      .files = std::move(files.digests)};
  const CheckpointMarks marks(context);
  options.self.mark = marks.mark();
  options.files.merge(CheckpointPlaces(context));
  options.unseen = [&](const std::string& mark) { return marks.Unseen(mark); };
  options.to_try = netcheck::Schedule(netcheck::TargetsOf(cluster),
                                      static_cast<int>(cluster.members.size()),
                                      options.self.rank);
  if (options.to_try.empty()) {
    return Skip("no address of another member is known");
  }
  options.most = deadline.Remaining();
  const auto outcome = netcheck::RunMesh(options, context.host.clock);
  if (!outcome) {
    return Broken(outcome.error().ToString());
  }
  auto verdict =
      netcheck::JudgeMesh(cluster, outcome->rows, context.host.clock.WallNow());
  std::string detail = verdict.detail;
  if (context.mesh->token_file.empty()) {
    detail += " (no --token-file: peers are not authenticated)";
  }
  if (!files.left_out.empty()) {
    detail += "; not compared: " + Printable(Join(files.left_out, ", "));
  }
  if (!marks.written().empty()) {
    detail += "; a file was written to " + Join(marks.written(), ", ") +
              " and removed";
  }
  Outcome judged = Judge(std::move(verdict.findings), detail);
  judged.detail = detail;
  judged.lines = std::move(verdict.lines);
  judged.data = DataOf(*outcome);
  return judged;
}

Outcome Run(const Context& context) {
  if (!context.mesh) {
    return Skip("other members are not contacted here");
  }
  if (!SeveralHosts(*context.cluster)) {
    return Skip("all members are on this host");
  }
  return Look(context);
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "network.reach",
                   .title = "every member reaches every other",
                   .needs = "cluster.described",
                   .scope = Scope::kCluster,
                   .may_wait = true,
                   .deadline = kDeadline,
                   // The roll call meets the members.
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::network_reach

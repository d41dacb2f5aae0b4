// SPDX-License-Identifier: Apache-2.0
// LSF with jsrun.
#include <algorithm>

#include "base/text.h"
#include "resolve/self.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::lsf {
namespace {

constexpr const char* kRankFile = "LSB_DJOB_RANKFILE";

Match Speak(const Request&, const sys::Host& host) {
  for (const char* name : {kRankFile, "LSB_JOBID"}) {
    if (!IsSet(host.env, name)) {
      return Silent(std::string(name) + " is not set");
    }
  }
  // A part of jsrun's variables is an error, which Read tells; none at all is
  // the job's own script.
  const Text part = FirstText(
      host.env,
      {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_RANK"});
  if (const std::string inside = LauncherInside(host.env);
      !part && !inside.empty()) {
    return Silent(
        inside +
        " shows that a launcher other than jsrun started this process");
  }
  return part
             ? Speaks()
             : Suspicious(Cause::kSchedulerEnvMisread,
                          "this process is in an LSF job but jsrun did not "
                          "start it (JSM_NAMESPACE_RANK is not set): start the "
                          "program with jsrun, because a job script runs once");
}

// One line for each slot; the first is the node that the job was launched
// from.
Result<std::vector<std::string>> ReadRankFile(const sys::Host& host) {
  const std::string path = *host.env.Get(kRankFile);
  auto text = host.fs.Read(path, 8U << 20);
  if (!text) {
    return std::move(text).error().While(std::string("while reading ") +
                                         kRankFile);
  }
  std::vector<std::string> hosts;
  for (const std::string& line : Split(*text, '\n')) {
    if (const auto name = Trim(line); !name.empty()) {
      hosts.emplace_back(name);
    }
  }
  if (hosts.size() < 2) {
    return Error(Cause::kClusterSpecInvalid,
                 std::string(kRankFile) + " `" + path +
                     "` lists no host besides the one that launched the job");
  }
  hosts.erase(hosts.begin());
  return hosts;
}

std::vector<std::string> Distinct(const std::vector<std::string>& hosts) {
  std::vector<std::string> seen;
  for (const std::string& one : hosts) {
    if (std::find(seen.begin(), seen.end(), one) == seen.end()) {
      seen.push_back(one);
    }
  }
  return seen;
}

Status TakeCoordinator(const sys::Env& env, Claim& claim) {
  claim.coordinator_host = TextVariable(env, "MASTER_ADDR");
  if (!claim.coordinator_host) {
    claim.coordinator_host = Sourced<std::string>{
        claim.hosts.front(), std::string("first host of ") + kRankFile};
  }
  MUSTER_ASSIGN(claim.coordinator_port, PortVariable(env, "MASTER_PORT"));
  if (claim.coordinator_port) {
    return Ok();
  }
  const std::string job = *env.Get("LSB_JOBID");
  const auto number = ParseInt(Trim(job));
  if (!number || *number < 0) {
    return Error(Cause::kClusterSpecInvalid, "LSB_JOBID is `" + Printable(job) +
                                                 "`, which is not a number");
  }
  claim.coordinator_port = Sourced<int>{
      static_cast<int>(10000 + *number % 1000), "10000 + LSB_JOBID mod 1000"};
  return Ok();
}

Result<Claim> Read(const Request&, const sys::Host& host) {
  const sys::Env& env = host.env;
  Claim claim{.source = "lsf"};
  MUSTER_TRY(
      RequireAll({.names = {kRankFile, "LSB_JOBID", "JSM_NAMESPACE_SIZE",
                            "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_RANK"},
                  .setters = "LSF sets the first two, and jsrun the others: "
                             "start the program with jsrun inside a job"},
                 host));
  MUSTER_ASSIGN(auto lines, ReadRankFile(host));
  claim.hosts = Distinct(lines);
  MUSTER_ASSIGN(claim.num_processes,
                NumberVariable(env, "JSM_NAMESPACE_SIZE", 1));
  // A line may be a slot of the job (a core), which is no rank of jsrun.
  if (std::ssize(lines) == claim.num_processes->value) {
    claim.rank_hosts = std::move(lines);
  }
  MUSTER_ASSIGN(claim.process_id, NumberVariable(env, "JSM_NAMESPACE_RANK"));
  MUSTER_ASSIGN(claim.local_process_id,
                NumberVariable(env, "JSM_NAMESPACE_LOCAL_RANK"));
  const auto own = std::find_if(
      claim.hosts.begin(), claim.hosts.end(),
      [&](const std::string& one) { return IsThisHost({.host = one}, env); });
  if (own != claim.hosts.end()) {
    claim.node_rank =
        Sourced<int>{static_cast<int>(own - claim.hosts.begin()),
                     std::string("position of this host in ") + kRankFile};
  }
  MUSTER_TRY(CheckNumbers(claim));
  MUSTER_TRY(TakeCoordinator(env, claim));
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "lsf",
    .precedence = 310,
    .starts_agents = true,
    .doc = "LSF with jsrun",
    .reads =
        "LSB_DJOB_RANKFILE (a file), LSB_JOBID, JSM_NAMESPACE_SIZE, "
        "JSM_NAMESPACE_RANK, JSM_NAMESPACE_LOCAL_RANK, MASTER_ADDR, "
        "MASTER_PORT",
    .ports = "10000 + LSB_JOBID mod 1000",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::lsf

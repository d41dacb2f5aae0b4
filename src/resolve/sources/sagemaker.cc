// SPDX-License-Identifier: Apache-2.0
// A training job of SageMaker.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::sagemaker {
namespace {

constexpr const char* kConfig = "/opt/ml/input/config/resourceconfig.json";

Match Speak(const Request&, const sys::Host& host) {
  const bool set = IsSet(host.env, "SM_HOSTS") ||
                   IsSet(host.env, "SM_CURRENT_HOST") ||
                   host.fs.Exists(kConfig);
  return set ? Speaks()
             : Silent(std::string("neither SM_HOSTS nor ") + kConfig +
                      " exists");
}

Result<std::vector<std::string>> HostsFrom(const Json& json,
                                           const std::string& what) {
  std::vector<std::string> hosts;
  if (json.is_array()) {
    for (const Json& one : json) {
      if (one.is_string() && !one.get<std::string>().empty()) {
        hosts.push_back(one.get<std::string>());
      }
    }
  }
  if (hosts.empty() || hosts.size() != json.size()) {
    return Error(Cause::kClusterSpecInvalid,
                 what + " is not a JSON list of host names");
  }
  return hosts;
}

struct Job {
  std::vector<std::string> hosts;
  Sourced<std::string> current;
  std::string source;
};

Result<Job> ReadConfig(const sys::Host& host) {
  MUSTER_ASSIGN(const auto text, host.fs.Read(kConfig, 8U << 20));
  MUSTER_ASSIGN(const Json json,
                ParseJson(text, Cause::kClusterSpecInvalid, kConfig));
  const auto hosts = json.is_object() ? json.find("hosts") : json.end();
  const auto current =
      json.is_object() ? json.find("current_host") : json.end();
  if (hosts == json.end() || current == json.end() || !current->is_string()) {
    return Error(Cause::kClusterSpecInvalid,
                 std::string(kConfig) + " has no hosts and current_host");
  }
  Job job{.current = {current->get<std::string>(), kConfig}, .source = kConfig};
  MUSTER_ASSIGN(job.hosts, HostsFrom(*hosts, std::string(kConfig) + ".hosts"));
  return job;
}

Result<Job> ReadJob(const sys::Host& host) {
  const Text hosts = TextVariable(host.env, "SM_HOSTS");
  const Text current = TextVariable(host.env, "SM_CURRENT_HOST");
  if (!hosts && !current) {
    return ReadConfig(host);
  }
  MUSTER_TRY(RequireAll({.names = {"SM_HOSTS", "SM_CURRENT_HOST"},
                         .setters = "the SageMaker training toolkit sets both"},
                        host));
  Job job{.current = *current, .source = hosts->source};
  MUSTER_ASSIGN(
      const Json json,
      ParseJson(hosts->value, Cause::kClusterSpecInvalid, "SM_HOSTS"));
  MUSTER_ASSIGN(job.hosts, HostsFrom(json, "SM_HOSTS"));
  return job;
}

void FillTensorflow(const Job& job, int index, Claim& claim) {
  std::vector<std::string> addresses;
  for (const std::string& one : job.hosts) {
    addresses.push_back(one + ":2223");
  }
  claim.tasks.emplace().jobs["worker"] = ToTasks(addresses);
  claim.task_type = Sourced<std::string>{"worker", "default of SageMaker"};
  claim.task_id = Sourced<int>{index, job.current.source};
  if (job.hosts.size() == 1) {
    claim.master = Sourced<std::string>{"", "one task"};
  }
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  Claim claim{.source = "sagemaker"};
  MUSTER_ASSIGN(Job job, ReadJob(host));
  const bool torch = request.profile == "torch";
  if (!torch) {
    std::sort(job.hosts.begin(), job.hosts.end());
  }
  const auto own =
      std::find(job.hosts.begin(), job.hosts.end(), job.current.value);
  if (own == job.hosts.end()) {
    return Error(Cause::kClusterSpecInvalid,
                 "SM_CURRENT_HOST is `" + Printable(job.current.value) +
                     "`, which is not among SM_HOSTS: " +
                     Printable(Join(job.hosts, ", ")));
  }
  const int index = static_cast<int>(own - job.hosts.begin());
  claim.hosts = job.hosts;
  claim.rank_hosts = job.hosts;  // by node
  claim.num_nodes =
      Sourced<int>{static_cast<int>(job.hosts.size()), job.source};
  claim.node_rank = Sourced<int>{index, job.current.source};
  claim.coordinator_host = TextVariable(host.env, "MASTER_ADDR");
  if (!claim.coordinator_host) {
    claim.coordinator_host =
        Sourced<std::string>{job.hosts.front(), "first of " + job.source};
  }
  MUSTER_ASSIGN(claim.coordinator_port, PortVariable(host.env, "MASTER_PORT"));
  if (!claim.coordinator_port) {
    claim.coordinator_port = torch ? Sourced<int>{7777, "default of SageMaker"}
                                   : Sourced<int>{2223, "default of tf"};
  }
  if (!torch) {
    FillTensorflow(job, index, claim);
    if (IsSet(host.env, "MASTER_ADDR") || IsSet(host.env, "MASTER_PORT")) {
      TakeGivenCoordinator(claim);
    }
  }
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "sagemaker",
    .precedence = 430,
    .starts_agents = true,
    .doc = "a SageMaker training job",
    .reads =
        "SM_HOSTS, SM_CURRENT_HOST, "
        "/opt/ml/input/config/resourceconfig.json, MASTER_ADDR, MASTER_PORT",
    .ports = "tf 2223, torch 7777",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::sagemaker

// SPDX-License-Identifier: Apache-2.0
#include "diagnose/derive/derive_members.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/derive/derive_parts.h"

namespace muster::diagnose {
namespace {

// So many facts of one name are kept of a log (evidence/log_scanner.cc).
constexpr std::int64_t kMaxKept = 64;

// "GLOBAL_RANK: 1, MEMBER: 2/8": members that are missing while others of the
// same log are there, once or twice. All of them twice met twice.
void CompareAnnounced(std::vector<Fact>& facts) {
  std::set<std::string> there;
  std::int64_t wanted = 0;
  std::optional<Fact> twice;
  std::optional<Fact> last;
  for (const Fact& fact : facts) {
    if (fact.name != "member.announced") {
      continue;
    }
    there.insert(fact.Text("member"));
    wanted = std::max(wanted, NumberIn(fact, "of"));
    if (fact.Number("times", 1) > 1) {
      twice = fact;
    }
    last = fact;
  }
  if (!last || wanted > kMaxKept ||
      static_cast<std::int64_t>(there.size()) >= wanted) {
    return;
  }
  if (twice) {
    AddOn(facts, *twice, "numbers.member_twice");
  } else {
    if (there.size() == 1) {
      last->fields.erase("level");  // said in passing, and nobody follows
    }
    AddOn(
        facts, *last,
        there.size() > 1 ? "numbers.members_missing" : "numbers.member_alone");
  }
}

// "rank 0 of 1", and once more: processes that were started together and do not
// know of each other.
void CompareSingle(std::vector<Fact>& facts) {
  const Fact* single = FirstOf(facts, "member.single");
  if (single != nullptr && single->Number("times", 1) > 1) {
    AddOn(facts, Fact(*single), "numbers.each_alone");
  }
}

// "Local process index: 2" and "Device: cuda:0": several processes of a host
// that name one device.
void CompareDevices(std::vector<Fact>& facts) {
  std::set<std::string> processes;
  std::set<std::string> devices;
  for (const Fact& fact : facts) {
    if (fact.name == "process.local_index") {
      processes.insert(fact.Text("index"));
    } else if (fact.name == "process.device") {
      devices.insert(fact.Text("device"));
    }
  }
  if (processes.size() > 1 && devices.size() == 1) {
    AddOn(facts, Fact(*FirstOf(facts, "process.device")),
          "numbers.device_shared");
  }
}

// nccl-tests tell the host of each rank: one host has no network between them.
void CompareHosts(std::vector<Fact>& facts) {
  std::set<std::string> hosts;
  for (const Fact& fact : facts) {
    if (fact.name == "nccl.rank_on") {
      hosts.insert(fact.Text("host"));
    }
  }
  if (hosts.size() == 1) {
    AddOn(facts, Fact(*FirstOf(facts, "nccl.rank_on")),
          "numbers.nccl_one_host");
  }
}

// The same thing told differently by two hosts or ranks.
void CompareVersions(std::vector<Fact>& facts) {
  std::map<std::string, std::map<std::string, const Fact*>> by_kind;
  for (const Fact& fact : facts) {
    if (fact.name == "version.reported") {
      by_kind[fact.Text("what")].emplace(fact.Text("version"), &fact);
    }
  }
  std::optional<Fact> differs;
  for (const Fact& fact : facts) {
    const std::string one = fact.Text("one");
    const std::string other = fact.Text("other");
    if (fact.name == "version.two_told" && !one.starts_with(other) &&
        !other.starts_with(one)) {
      differs = fact;
    }
  }
  for (const auto& [what, versions] : by_kind) {
    std::set<std::string> places;
    for (const auto& [version, fact] : versions) {
      places.insert(fact->Text("host") + "/" + fact->Text("source") + "/" +
                    std::to_string(fact->Number("rank", -1)));
    }
    if (versions.size() > 1 && places.size() > 1) {
      differs = *versions.begin()->second;
    }
  }
  const Fact* plugin = FirstOf(facts, "nccl.plugin_loaded");
  const Fact* no_plugin = FirstOf(facts, "nccl.plugin_absent");
  if (plugin != nullptr && no_plugin != nullptr && plugin->Has("host") &&
      no_plugin->Has("host") &&
      plugin->Text("host") != no_plugin->Text("host")) {
    differs = *plugin;
  }
  if (differs) {
    AddOn(facts, *differs, "members.versions_differ");
  }
}

// "mpirun -H 10.0.0.1:2,10.0.0.2:2" and "connect() to 192.168.1.1 failed": an
// address that nobody named was told by a host that has more than one. Names
// say nothing of addresses.
void ComparePeers(std::vector<Fact>& facts) {
  std::string named;
  for (const Fact& fact : facts) {
    if (fact.name == "hosts.named") {
      named += fact.Text("hosts") + ",";
    }
  }
  const auto hosts = Split(named, ',');
  const bool are_addresses =
      std::any_of(hosts.begin(), hosts.end(), [](const std::string& host) {
        return host.find('.') != std::string::npos &&
               host.find_first_not_of("0123456789.:") == std::string::npos;
      });
  const Fact* failed = FirstOf(facts, "connect.failed_to");
  if (!are_addresses || failed == nullptr) {
    return;
  }
  const std::string peer = failed->Text("peer");
  const bool is_named =
      std::any_of(hosts.begin(), hosts.end(), [&](const std::string& host) {
        return host == peer || host.starts_with(peer + ":");
      });
  if (!is_named) {
    AddOn(facts, Fact(*failed), "numbers.peer_not_named");
  }
}

// A channel of gRPC ends at an address of the cluster. What answers from
// elsewhere stands between: a proxy. Names say nothing of addresses.
void CompareAnswering(std::vector<Fact>& facts) {
  const Fact* told = FirstOf(facts, "cluster.reported");
  const Fact* answered = FirstOf(facts, "rpc.answered_from");
  if (told == nullptr || answered == nullptr) {
    return;
  }
  const std::string jobs = told->Text("jobs");
  const auto addresses = Split(jobs, '"');
  const bool are_addresses = std::any_of(
      addresses.begin(), addresses.end(), [](const std::string& address) {
        return std::count(address.begin(), address.end(), '.') == 3 &&
               address.find_first_not_of("0123456789.:") == std::string::npos;
      });
  if (are_addresses &&
      jobs.find('"' + answered->Text("peer") + ':') == std::string::npos) {
    AddOn(facts, Fact(*answered), "numbers.answered_from_outside");
  }
}

// Commands of several members that name another master each, or another port.
void CompareMasters(std::vector<Fact>& facts) {
  for (const char* name : {"env.master_of_member", "env.port_of_member"}) {
    std::set<std::string> told;
    std::optional<Fact> other;
    for (const Fact& fact : facts) {
      if (fact.name == name && told.insert(fact.Text("value")).second &&
          told.size() > 1) {
        other = fact;
      }
    }
    if (other) {
      AddOn(facts, *other, "numbers.masters_differ");
      return;
    }
  }
}

// The quoted word after "type": of a task as TF_CONFIG describes it.
std::string RoleOf(const std::string& task) {
  const std::size_t key = task.find("type");
  const std::size_t colon =
      key == std::string::npos ? key : task.find(':', key);
  const std::size_t begin =
      colon == std::string::npos ? colon : task.find_first_of("'\"", colon);
  const std::size_t end =
      begin == std::string::npos ? begin : task.find_first_of("'\"", begin + 1);
  return end == std::string::npos ? ""
                                  : task.substr(begin + 1, end - begin - 1);
}

bool HasJob(const std::string& jobs, const std::string& role) {
  return jobs.find("'" + role + "'") != std::string::npos ||
         jobs.find('"' + role + '"') != std::string::npos;
}

// TF_CONFIG's task has a role that its cluster does not have (an evaluator is
// no part of a cluster), or the cluster has parameter servers and nobody who
// leads them.
void CompareRoles(std::vector<Fact>& facts) {
  const Fact* told = FirstOf(facts, "cluster.reported");
  const std::string role = told == nullptr ? "" : RoleOf(told->Text("task"));
  if (role.empty()) {
    return;
  }
  const std::string jobs = told->Text("jobs");
  Fact on = *told;
  on.fields.erase("level");  // wrong at whatever level it is printed
  if (role != "evaluator" && !HasJob(jobs, role)) {
    AddOn(facts, on, "numbers.task_not_in_cluster");
  }
  if (HasJob(jobs, "ps") && !HasJob(jobs, "chief") && !HasJob(jobs, "master")) {
    AddOn(facts, on, "numbers.cluster_without_chief");
  }
}

}  // namespace

void CompareMembers(std::vector<Fact>& facts) {
  ComparePeers(facts);
  CompareAnswering(facts);
  CompareMasters(facts);
  CompareAnnounced(facts);
  CompareSingle(facts);
  CompareDevices(facts);
  CompareHosts(facts);
  CompareVersions(facts);
  CompareRoles(facts);
}

}  // namespace muster::diagnose

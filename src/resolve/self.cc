// SPDX-License-Identifier: Apache-2.0
#include "resolve/self.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "resolve/source.h"

namespace muster::resolve {
namespace {

std::string ThisHost(const sys::Env& env) {
  const auto addresses = env.LocalAddresses();
  return "this host is `" + Printable(env.Hostname()) + "` with " +
         (addresses.empty() ? "no address" : Join(addresses, ", "));
}

std::string Names(const std::vector<const Member*>& members) {
  std::vector<std::string> names;
  names.reserve(members.size());
  for (const Member* member : members) {
    names.push_back(Name(*member));
  }
  return Join(names, ", ");
}

// What this host is called; read once, asked for each of many members.
class ThisHostNames {
 public:
  explicit ThisHostNames(const sys::Env& env)
      : name_(env.Hostname()), addresses_(env.LocalAddresses()) {}

  bool Are(const Address& address) const {
    const std::string& host = address.host;
    if (address.IsLoopback() || host == name_ ||
        std::find(addresses_.begin(), addresses_.end(), host) !=
            addresses_.end()) {
      return true;
    }
    if (Address{.host = host}.IsNumeric()) {
      return false;
    }
    return Begins(host, name_) || Begins(name_, host);
  }

 private:
  // `whole` is `part`, or goes on after it with a dot; whatever the case.
  static bool Begins(std::string_view whole, std::string_view part) {
    return !part.empty() && whole.size() >= part.size() &&
           (whole.size() == part.size() || whole[part.size()] == '.') &&
           std::equal(part.begin(), part.end(), whole.begin(),
                      [](unsigned char a, unsigned char b) {
                        return std::tolower(a) == std::tolower(b);
                      });
  }

  std::string name_;
  std::vector<std::string> addresses_;
};

std::vector<const Member*> MembersHere(const Cluster& cluster,
                                       const sys::Env& env) {
  std::vector<const Member*> here;
  const ThisHostNames names(env);
  for (const Member& member : cluster.members) {
    if (member.address && names.Are(member.address->value)) {
      here.push_back(&member);
    }
  }
  return here;
}

// The host of the own task, by its address, by its rank in a list of hosts, or
// as the coordinator that rank 0 is. Empty: nothing tells it.
std::string OwnHost(const Resolved& resolved, const Member& self) {
  if (self.address) {
    return self.address->value.host;
  }
  const auto& hosts = resolved.claims.front().rank_hosts;
  const auto rank = static_cast<std::size_t>(self.rank);
  if (rank < hosts.size()) {
    return hosts[rank];
  }
  return self.rank == 0 && resolved.cluster.coordinator
             ? resolved.cluster.coordinator->value.host
             : "";
}

Result<std::vector<std::string>> NumbersOf(const std::string& name,
                                           const sys::Host& host) {
  if (Address{.host = name}.Ip() || host.names == nullptr) {
    return std::vector<std::string>{name};
  }
  return host.names->Lookup(name, Deadline::After(std::chrono::seconds(1)));
}

bool AllOnLoopback(const Cluster& cluster) {
  return cluster.size.value == 1 ||
         std::all_of(cluster.members.begin(), cluster.members.end(),
                     [](const Member& member) {
                       return member.address &&
                              member.address->value.IsLoopback();
                     });
}

// Which of the list this host is: a rank, or where each host has several, a
// node.
std::string FlagOf(const Request& request) {
  return request.processes ? "--node-rank" : "--rank";
}

}  // namespace

Result<std::optional<Sourced<int>>> GivenRank(const Request& request,
                                              const sys::Host& host) {
  std::optional<Sourced<int>> told;
  if (request.node_rank) {
    told = {*request.node_rank, "flag --node-rank"};
  } else if (request.rank) {
    told = {*request.rank, "flag --rank"};
  }
  const std::string text = host.env.Get("MUSTER_RANK").value_or("");
  if (!text.empty()) {
    const auto rank = ParseInt(text);
    if (!rank || *rank < 0 || *rank > 1'000'000) {
      return Error(
          Cause::kClusterSpecInvalid,
          "MUSTER_RANK is `" + Printable(text) + "`, which is not a rank");
    }
    if (told && told->value != *rank) {
      return Error(Cause::kClusterSpecInvalid,
                   "the rank is " + std::to_string(told->value) +
                       " (flag --rank) and " + std::to_string(*rank) +
                       " (env MUSTER_RANK)");
    }
    if (!told) {
      told = {static_cast<int>(*rank), "env MUSTER_RANK"};
    }
  }
  if (told && told->value < 0) {
    return Error(
        Cause::kClusterSpecInvalid,
        "--rank is " + std::to_string(told->value) + ": ranks start at 0");
  }
  return told;
}

bool IsThisHost(const Address& address, const sys::Env& env) {
  return ThisHostNames(env).Are(address);
}

Result<Sourced<int>> FindSelf(const Cluster& cluster, const Request& request,
                              const sys::Host& host) {
  MUSTER_ASSIGN(const auto told, GivenRank(request, host));
  if (told) {
    if (told->value >= static_cast<int>(cluster.members.size())) {
      return Error(Cause::kRankWorldMismatch,
                   "rank " + std::to_string(told->value) + " (" + told->source +
                       ") is outside of " +
                       Count(std::ssize(cluster.members), "member") + " (" +
                       cluster.size.source + "): ranks are 0 to " +
                       std::to_string(cluster.members.size() - 1));
    }
    return *told;
  }
  const auto here = MembersHere(cluster, host.env);
  if (here.size() == 1) {
    return Sourced<int>{
        here[0]->rank,
        "the address " + ToString(here[0]->address->value) + " is this host's"};
  }
  if (here.empty()) {
    return Error(Cause::kNetWrongEndpoint,
                 "no address of " + cluster.size.source + " is this host's (" +
                     ThisHost(host.env) +
                     "): correct the list, or set the rank with " +
                     FlagOf(request))
        .With(Observed("address.not_ours",
                       {{"addresses", Join(host.env.LocalAddresses(), ", ")}},
                       host));
  }
  return Error(Cause::kLaunchEnvMissing,
               Count(std::ssize(here), "address") + " of " +
                   cluster.size.source + " are this host's (" + Names(here) +
                   "): set the rank of this process with " + FlagOf(request) +
                   " or MUSTER_RANK")
      .With(Observed("env.ambiguous", {{"members", Names(here)}}, host));
}

Result<std::string> CheckSelf(const Resolved& resolved, const sys::Host& host) {
  const Cluster& cluster = resolved.cluster;
  if (!cluster.self) {
    return std::string("check-self: every rank is this host's");
  }
  const Member& self =
      cluster.members[static_cast<std::size_t>(cluster.self->value)];
  const std::string name = OwnHost(resolved, self);
  if (name.empty()) {
    return "check-self: no source contains the address of " + Name(self) +
           ", so there is nothing to compare";
  }
  MUSTER_ASSIGN(const auto theirs, NumbersOf(name, host));
  const auto ours = host.env.LocalAddresses();
  const auto here =
      std::find_if(theirs.begin(), theirs.end(), [&](const std::string& one) {
        const Address their{.host = one};
        return !their.IsLoopback() &&
               std::any_of(ours.begin(), ours.end(),
                           [&](const std::string& own) {
                             return their.HasIpOf({.host = own});
                           });
      });
  if (here != theirs.end()) {
    return "check-self: " + Name(self) + " is at " + Printable(name) +
           (*here == name ? "" : " (" + *here + ")") +
           ", an address of this host";
  }
  const bool loopback = std::all_of(
      theirs.begin(), theirs.end(),
      [](const std::string& one) { return Address{.host = one}.IsLoopback(); });
  if (loopback && AllOnLoopback(cluster)) {
    return "check-self: " + Name(self) + " is at " + Printable(name) +
           ", as all members are: they share this host";
  }
  return Error(
      loopback ? Cause::kNetLoopbackName : Cause::kNetWrongEndpoint,
      Name(self) + " is at `" + Printable(name) + "`, which is " +
          Join(theirs, ", ") + ", but " + ThisHost(host.env) +
          (loopback ? ": other hosts would connect to themselves" : ""));
}

Status CheckAddresses(const Cluster& cluster, const sys::Host& host,
                      std::vector<Finding>& remarks) {
  const Member* loopback = nullptr;
  const Member* other = nullptr;
  for (const Member& member : cluster.members) {
    if (!member.address) {
      continue;
    }
    const Address& address = member.address->value;
    if (address.host == "0.0.0.0" || address.host == "::") {
      return Error(Cause::kClusterSpecInvalid,
                   Name(member) + " (" + member.address->source +
                       "): this address is valid only for listening, not for "
                       "connecting");
    }
    (address.IsLoopback() ? loopback : other) = &member;
  }
  if (loopback != nullptr && other != nullptr) {
    // A remark only: where a name leads is not known before it is looked up,
    // and the roll call says which address does not answer.
    Finding remark = FromError(
        Error(Cause::kNetLoopbackName,
              Name(*loopback) + " has a loopback address; if " + Name(*other) +
                  " is on another host, it cannot reach this address (" +
                  loopback->address->source + ")")
            .With(Observed("address.loopback",
                           {{"address", ToString(loopback->address->value)}},
                           host)));
    remark.severity = Severity::kWarning;
    remark.confidence = Confidence::kPossible;
    remarks.push_back(std::move(remark));
  }
  if (!cluster.self) {
    return Ok();
  }
  const Member& self =
      cluster.members[static_cast<std::size_t>(cluster.self->value)];
  const auto here = MembersHere(cluster, host.env);
  const bool numeric = self.address && self.address->value.IsNumeric();
  const bool ours =
      std::find(here.begin(), here.end(), &self) != here.end() || !numeric;
  if (!ours && !here.empty()) {
    return Error(Cause::kNetWrongEndpoint,
                 "this process is " + Name(self) + " (" + cluster.self->source +
                     "), but this host has the address "
                     "of " +
                     Names(here) + ", not that one")
        .With(Observed("address.not_ours",
                       {{"addresses", Join(host.env.LocalAddresses(), ", ")}},
                       host));
  }
  return Ok();
}

}  // namespace muster::resolve

// SPDX-License-Identifier: Apache-2.0
#include "cluster/members.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"

namespace muster {
namespace {

int TaskOrder(const std::string& task) {
  if (task == "chief" || task == "master") {
    return 0;
  }
  if (task == "worker") {
    return 1;
  }
  return task == "ps" ? 3 : 2;
}

bool AllHaveAddresses(const Cluster& cluster) {
  return std::all_of(
      cluster.members.begin(), cluster.members.end(),
      [](const Member& member) { return member.address.has_value(); });
}

Error Duplicate(const Member& first, const Member& second,
                const std::string& what) {
  std::string sources;
  if (first.address && second.address) {
    sources = first.address->source == second.address->source
                  ? " (" + first.address->source + ")"
                  : " (" + first.address->source + ", " +
                        second.address->source + ")";
  }
  return Error(Cause::kDuplicateIdentity, what + " is given to " +
                                              Place(first) + " and to " +
                                              Place(second) + sources);
}

std::size_t HashOf(const std::string& text, int number) {
  return std::hash<std::string>()(text) * 31 + static_cast<std::size_t>(number);
}

// Members by what must belong to one of them alone; nothing is copied, since
// there may be many thousands.
struct SamePlace {
  std::size_t operator()(const Member* one) const {
    return HashOf(one->task, one->index);
  }
  bool operator()(const Member* a, const Member* b) const {
    return a->index == b->index && a->task == b->task;
  }
};
struct SameAddress {
  std::size_t operator()(const Member* one) const {
    return HashOf(one->address->value.host, one->address->value.port);
  }
  bool operator()(const Member* a, const Member* b) const {
    return a->address->value == b->address->value;
  }
};

// Each of rank, place and address belongs to one member.
Status CheckUnique(const std::vector<Member>& members) {
  std::unordered_map<int, const Member*> ranks(members.size());
  std::unordered_set<const Member*, SamePlace, SamePlace> places(
      members.size());
  std::unordered_set<const Member*, SameAddress, SameAddress> addresses(
      members.size());
  for (const Member& member : members) {
    auto rank = ranks.emplace(member.rank, &member);
    if (!rank.second) {
      return Duplicate(*rank.first->second, member,
                       "rank " + std::to_string(member.rank));
    }
    auto place = places.insert(&member);
    if (!place.second) {
      return Error(Cause::kDuplicateIdentity,
                   "two members are `" + member.task + "` number " +
                       std::to_string(member.index) + ": " +
                       Name(**place.first) + " and " + Name(member));
    }
    if (!member.address) {
      continue;
    }
    auto address = addresses.insert(&member);
    if (!address.second) {
      return Duplicate(**address.first, member,
                       "the address " + ToString(member.address->value));
    }
  }
  return Ok();
}

}  // namespace

void AssignRanks(std::vector<Member>& members) {
  const auto before = [](const Member& a, const Member& b) {
    const int order_a = TaskOrder(a.task);
    const int order_b = TaskOrder(b.task);
    return std::tie(order_a, a.task, a.index) <
           std::tie(order_b, b.task, b.index);
  };
  // A map of one job is in order, and moving its members costs.
  if (!std::is_sorted(members.begin(), members.end(), before)) {
    std::stable_sort(members.begin(), members.end(), before);
  }
  int rank = 0;
  for (Member& member : members) {
    member.rank = rank++;
  }
}

Status CheckMembers(const Cluster& cluster) {
  const auto count = static_cast<int>(cluster.members.size());
  if (count == 0) {
    return Error(Cause::kClusterSpecInvalid, "the cluster has no members");
  }
  MUSTER_TRY(CheckUnique(cluster.members));
  if (cluster.size.value != count) {
    return Error(Cause::kRankWorldMismatch,
                 "the size is " + std::to_string(cluster.size.value) + " (" +
                     cluster.size.source + "), but " + Count(count, "member") +
                     " are listed");
  }
  for (int rank = 0; rank < count; ++rank) {
    const int found = cluster.members[static_cast<std::size_t>(rank)].rank;
    if (found != rank) {
      return Error(Cause::kRankWorldMismatch,
                   "the ranks of " + Count(count, "member") + " are 0 to " +
                       std::to_string(count - 1) + " in order, but rank " +
                       std::to_string(found) + " is listed where rank " +
                       std::to_string(rank) + " is expected");
    }
  }
  if (cluster.self &&
      (cluster.self->value < 0 || cluster.self->value >= count)) {
    return Error(Cause::kRankWorldMismatch,
                 "the rank of this process is " +
                     std::to_string(cluster.self->value) + " (" +
                     cluster.self->source + "), but the size is " +
                     std::to_string(count) + " (" + cluster.size.source +
                     "), so ranks are 0 to " + std::to_string(count - 1));
  }
  return Ok();
}

std::string Place(const Member& member) {
  const std::string place = member.task + " " + std::to_string(member.index);
  return member.address ? place + " at " + ToString(member.address->value)
                        : place;
}

std::string ClusterKey(const Cluster& cluster) {
  const bool addresses = AllHaveAddresses(cluster);
  std::string text;
  for (const Member& member : cluster.members) {
    text += std::to_string(member.rank) + " " + member.task + " " +
            std::to_string(member.index);
    if (addresses) {
      text += " " + ToString(member.address->value);
    }
    text += "\n";
  }
  return Digest(text);
}

}  // namespace muster

// SPDX-License-Identifier: Apache-2.0
#include "resolve/variables.h"

#include "base/text.h"
#include "resolve/source.h"

namespace muster::resolve {
namespace {

// Far above what one run has, and far below what would use up memory.
constexpr int kLargestSize = 65536;

Result<int> Number(const sys::Env& env, const std::string& name, int least) {
  const std::string text = env.Get(name).value_or("");
  const auto number = ParseInt(Trim(text));
  if (!number || *number < least || *number > kLargestSize) {
    return Error(
        Cause::kClusterSpecInvalid,
        name + " is `" + Printable(text) + "`, which is no whole number from " +
            std::to_string(least) + " to " + std::to_string(kLargestSize));
  }
  return static_cast<int>(*number);
}

std::string List(const std::vector<std::string>& names) {
  if (names.size() < 2) {
    return Join(names, "");
  }
  std::vector<std::string> head(names.begin(), names.end() - 1);
  return Join(head, ", ") + " and " + names.back();
}

}  // namespace

bool IsSet(const sys::Env& env, const std::string& name) {
  return !env.Get(name).value_or("").empty();
}

Result<int> SizeVariable(const sys::Env& env, const std::string& name) {
  return Number(env, name, 1);
}

Result<int> RankVariable(const sys::Env& env, const std::string& name) {
  return Number(env, name, 0);
}

Error PartlySet(const Variables& variables, const sys::Host& host) {
  std::vector<std::string> set;
  std::vector<std::string> missing;
  for (const std::string& name : variables.names) {
    if (IsSet(host.env, name)) {
      set.push_back(name + "=" + Printable(*host.env.Get(name)));
    } else {
      missing.push_back(name);
    }
  }
  return Error(Cause::kLaunchEnvMissing,
               List(set) + (set.size() == 1 ? " is set, " : " are set, ") +
                   List(missing) + (missing.size() == 1 ? " is" : " are") +
                   " not: " + variables.setters)
      .With(Observed("env.partial",
                     {{"set", Join(set, " ")}, {"missing", Join(missing, " ")}},
                     host));
}

Cluster Unplaced(Sourced<int> size) {
  Cluster cluster;
  for (int rank = 0; rank < size.value; ++rank) {
    cluster.members.push_back({.rank = rank, .task = "worker", .index = rank});
  }
  cluster.size = std::move(size);
  return cluster;
}

}  // namespace muster::resolve

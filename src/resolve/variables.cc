// SPDX-License-Identifier: Apache-2.0
#include "resolve/variables.h"

#include "base/text.h"
#include "resolve/source.h"

namespace muster::resolve {
namespace {

// Far above what one run has, and far below what would use up memory.
constexpr int kLargestSize = 65536;

Result<int> WholeNumber(const sys::Env& env, const std::string& name,
                        int least) {
  const std::string text = env.Get(name).value_or("");
  const auto number = ParseInt(Trim(text));
  if (!number || *number < least || *number > kLargestSize) {
    return Error(Cause::kClusterSpecInvalid,
                 name + " is `" + Printable(text) +
                     "`, which is not a whole number from " +
                     std::to_string(least) + " to " +
                     std::to_string(kLargestSize));
  }
  return static_cast<int>(*number);
}

}  // namespace

std::string List(const std::vector<std::string>& names) {
  if (names.size() < 2) {
    return Join(names, "");
  }
  std::vector<std::string> head(names.begin(), names.end() - 1);
  return Join(head, ", ") + " and " + names.back();
}

Result<int> SizeVariable(const sys::Env& env, const std::string& name) {
  return WholeNumber(env, name, 1);
}

Result<int> RankVariable(const sys::Env& env, const std::string& name) {
  return WholeNumber(env, name, 0);
}

Text TextVariable(const sys::Env& env, const std::string& name) {
  return FirstText(env, {name});
}

Result<Number> NumberVariable(const sys::Env& env, const std::string& name,
                              int least) {
  if (!IsSet(env, name)) {
    return Number();
  }
  MUSTER_ASSIGN(const int value, WholeNumber(env, name, least));
  return Number(Sourced<int>{value, "env " + name});
}

Text FirstText(const sys::Env& env, const std::vector<std::string>& names) {
  auto set = sys::FirstSet(env, names);
  return set ? Text(Sourced<std::string>{std::move(set->value),
                                         "env " + set->name})
             : Text();
}

Result<Number> FirstNumber(const sys::Env& env,
                           const std::vector<std::string>& names, int least) {
  for (const std::string& name : names) {
    if (IsSet(env, name)) {
      return NumberVariable(env, name, least);
    }
  }
  return Number();
}

Result<Number> PortVariable(const sys::Env& env, const std::string& name) {
  if (!IsSet(env, name)) {
    return Number();
  }
  const std::string text = *env.Get(name);
  const auto port = ParseInt(Trim(text));
  if (!port || *port < 1 || *port > 65535) {
    return Error(Cause::kClusterSpecInvalid,
                 name + " is `" + Printable(text) +
                     "`, which is not a port from 1 to 65535");
  }
  return Number(Sourced<int>{static_cast<int>(*port), "env " + name});
}

Result<Sourced<int>> MasterPort(const sys::Env& env) {
  MUSTER_ASSIGN(const auto told, PortVariable(env, "MASTER_PORT"));
  return told ? *told : Sourced<int>{kTorchPort, "default of torch's launcher"};
}

std::string LauncherInside(const sys::Env& env) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "TORCHELASTIC_RUN_ID",
                           "PMI_RANK", "MV2_COMM_WORLD_RANK", "HOROVOD_RANK"}) {
    if (IsSet(env, name)) {
      return name;
    }
  }
  return "";
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
               (set.empty() ? "" : List(set)) +
                   (set.empty()       ? ""
                    : set.size() == 1 ? " is set, "
                                      : " are set, ") +
                   List(missing) + (missing.size() == 1 ? " is" : " are") +
                   " not: " + variables.setters)
      .With(Observed("env.partial",
                     {{"set", Join(set, " ")}, {"missing", Join(missing, " ")}},
                     host));
}

Status RequireAll(const Variables& variables, const sys::Host& host) {
  for (const std::string& name : variables.names) {
    if (!IsSet(host.env, name)) {
      return PartlySet(variables, host);
    }
  }
  return Ok();
}

Finding Warning(Cause cause, std::string what) {
  Finding finding = MakeFinding(cause, std::move(what), Confidence::kLikely);
  finding.severity = Severity::kWarning;
  return finding;
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

// SPDX-License-Identifier: Apache-2.0
#include "resolve/platform/tpu_slice.h"

#include <algorithm>

#include "accelerator/tpu_type.h"
#include "base/text.h"
#include "resolve/formats/endpoint.h"
#include "resolve/variables.h"

namespace muster::resolve {
namespace {

// A variable of the process, else a value of tpu-env.
Text FromEither(const sys::Env& env,
                const std::map<std::string, std::string>& tpu_env,
                const std::string& name) {
  if (auto text = TextVariable(env, name)) {
    return text;
  }
  const auto found = tpu_env.find(name);
  return found == tpu_env.end() || found->second.empty()
             ? Text()
             : Text(Sourced<std::string>{
                   found->second, "metadata attribute tpu-env, " + name});
}

Result<Number> NumberFromEither(
    const sys::Env& env, const std::map<std::string, std::string>& tpu_env,
    const std::string& name, int least) {
  const Text text = FromEither(env, tpu_env, name);
  if (!text) {
    return Number();
  }
  const auto number = ParseInt(Trim(text->value));
  if (!number || *number < least || *number > 65536) {
    return Error(Cause::kClusterSpecInvalid,
                 name + " is `" + Printable(text->value) + "` (" +
                     text->source + "), which is not a whole number from " +
                     std::to_string(least));
  }
  return Number(Sourced<int>{static_cast<int>(*number), text->source});
}

Status TakeSlices(const std::map<std::string, std::string>& tpu_env,
                  const sys::Env& env, Claim& claim) {
  MUSTER_ASSIGN(claim.num_slices,
                NumberFromEither(env, tpu_env, "MEGASCALE_NUM_SLICES", 1));
  MUSTER_ASSIGN(claim.slice_id,
                NumberFromEither(env, tpu_env, "MEGASCALE_SLICE_ID", 0));
  const bool several = claim.num_slices && claim.num_slices->value > 1;
  if (several && !claim.slice_id) {
    return Error(Cause::kLaunchEnvMissing,
                 "MEGASCALE_NUM_SLICES is " +
                     std::to_string(claim.num_slices->value) + " (" +
                     claim.num_slices->source +
                     "), but MEGASCALE_SLICE_ID is not set");
  }
  if (!claim.num_slices) {
    claim.num_slices = Sourced<int>{1, "MEGASCALE_NUM_SLICES is not set"};
  }
  if (!claim.slice_id) {
    claim.slice_id = Sourced<int>{0, "MEGASCALE_SLICE_ID is not set"};
  }
  return CheckNumbers(claim);
}

Status TakeCoordinator(const TpuSlice& slice,
                       const std::map<std::string, std::string>& tpu_env,
                       const Request& request, const sys::Env& env,
                       Claim& claim) {
  const Text told = FromEither(env, tpu_env, "MEGASCALE_COORDINATOR_ADDRESS");
  const std::string text = told ? told->value : slice.hosts.front();
  const std::string source =
      told ? told->source : "first of " + slice.hosts_source;
  auto split = SplitHostPort(text);
  if (!split) {
    return std::move(split).error().While("while reading " + source);
  }
  MUSTER_ASSIGN(claim.megascale_port, PortVariable(env, "MEGASCALE_PORT"));
  if (!claim.megascale_port && told && split->port && *split->port > 0) {
    claim.megascale_port = Sourced<int>{*split->port, source};
  }
  claim.coordinator_host = Sourced<std::string>{split->host, source};
  MUSTER_ASSIGN(claim.coordinator_port,
                PortVariable(env, "JAX_COORDINATOR_PORT"));
  if (!claim.coordinator_port) {
    claim.coordinator_port =
        request.profile == "torch_xla" || request.profile == "torch"
            ? Sourced<int>{8476, "default of torch_xla"}
            : Sourced<int>{8482, "default of jax on TPU"};
  }
  return Ok();
}

std::string ListedHost(const std::string& listed) {
  const auto split = SplitHostPort(listed);
  return split ? split->host : listed;
}

}  // namespace

bool IsLocalWord(const std::string& text) {
  return Trim(text) == "local";
}

Status FillSlices(const TpuSlice& slice,
                  const std::map<std::string, std::string>& tpu_env,
                  const Request& request, const sys::Env& env, Claim& claim) {
  MUSTER_TRY(TakeSlices(tpu_env, env, claim));
  const int hosts = static_cast<int>(slice.hosts.size());
  if (slice.worker.value >= hosts) {
    return Error(Cause::kRankWorldMismatch,
                 "the worker id " + std::to_string(slice.worker.value) + " (" +
                     slice.worker.source + ") is outside of the " +
                     Count(hosts, "worker") + " of " + slice.hosts_source);
  }
  claim.hosts = slice.hosts;
  claim.num_processes =
      Sourced<int>{hosts * claim.num_slices->value, slice.hosts_source};
  claim.process_id = Sourced<int>{
      slice.worker.value + claim.slice_id->value * hosts, slice.worker.source};
  if (claim.num_slices->value > 1) {
    claim.num_processes->source = Join(
        std::vector<std::string>{slice.hosts_source, "MEGASCALE_NUM_SLICES"},
        " times ");
    claim.process_id->source = Join(
        std::vector<std::string>{slice.worker.source, "MEGASCALE_SLICE_ID"},
        " and ");
  } else {
    std::transform(slice.hosts.begin(), slice.hosts.end(),
                   std::back_inserter(claim.rank_hosts), ListedHost);
  }
  return TakeCoordinator(slice, tpu_env, request, env, claim);
}

void RemarkHostCount(const std::string& text, Claim& claim, int chips_here) {
  const auto type = accelerator::ParseTpuType(text);
  if (!type) {
    return;
  }
  auto possible = accelerator::PossibleHosts(*type);
  const int by_chips = accelerator::HostsOf(*type, chips_here);
  if (chips_here > 0 &&
      std::find(possible.begin(), possible.end(), by_chips) == possible.end()) {
    claim.remarks.push_back(
        Warning(Cause::kClusterSpecInvalid,
                "this host has " + Count(chips_here, "TPU chip") + ", so a " +
                    type->text + " would have " + Count(by_chips, "host") +
                    ", but it has " + std::to_string(possible.front())));
  } else if (chips_here > 0) {
    possible = {by_chips};
  }
  const int listed = static_cast<int>(claim.hosts.size());
  if (std::find(possible.begin(), possible.end(), listed) != possible.end()) {
    return;
  }
  claim.remarks.push_back(Warning(
      Cause::kClusterSpecInvalid,
      "the TPU type " + type->text + " has " + Count(possible.front(), "host") +
          ", but " + Count(listed, "address") + " of workers " +
          (listed == 1 ? "is" : "are") + " listed" +
          (claim.num_processes ? " (" + claim.num_processes->source + ")"
                               : "")));
}

}  // namespace muster::resolve

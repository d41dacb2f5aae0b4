// SPDX-License-Identifier: Apache-2.0
#include "remote/tpu_workers.h"

#include <chrono>
#include <stop_token>

#include "base/text.h"
#include "cloud/auth/credentials.h"
#include "muster/retry.h"
#include "sys/net/curl_http.h"
#include "sys/terminal/results.h"

namespace muster::remote {
namespace {

constexpr auto kForTheApi = std::chrono::seconds(10);
constexpr auto kBetweenQuestions = std::chrono::seconds(1);

std::string HowText(const ReachedTpu& tpu, const cloud::TpuWorkers& found,
                    const cloud::TpuLogin& login) {
  const std::string user =
      login.user.value.empty() ? "" : Printable(login.user.value) + ", ";
  const std::string key = login.key_file.empty()
                              ? "the keys in the ssh configuration"
                              : "key " + Printable(login.key_file);
  return "muster: TPU `" + Printable(tpu.node.name) + "` (" +
         Printable(tpu.node.zone) + "), " +
         Count(std::ssize(tpu.workers), "worker") + " by ssh; addresses " +
         found.why + "; user " + user + login.user.source + "; " + key;
}

}  // namespace

Result<ReachedTpu> Reach(const resolve::TpuNode& node,
                         const settings::ReachFlags& flags,
                         const std::string& account, const sys::Host& host) {
  MUSTER_TRY(resolve::CheckReady(node));
  MUSTER_ASSIGN(const auto choice, cloud::ParseAddressChoice(flags.address));
  MUSTER_ASSIGN(
      const auto found,
      cloud::FindWorkers(node, flags.worker.empty() ? "all" : flags.worker,
                         choice, host));
  MUSTER_ASSIGN(const auto login,
                cloud::FindLogin(node, flags.user, account, host));
  ReachedTpu tpu{.node = node, .workers = {}, .how = {}};
  for (const cloud::TpuWorker& worker : found.workers) {
    const std::string label = "worker " + std::to_string(worker.index);
    tpu.workers.push_back(
        {.index = worker.index,
         .internal = worker.internal,
         .label = label,
         .login = {
             .host = worker.address,
             .name = label + " of `" + node.name + "` (" + worker.address + ")",
             .user = login.user.value,
             .key_file = login.key_file,
             .known_hosts = login.known_hosts,
             .host_key_name = cloud::HostKeyName(node, worker.index),
             .if_refused = login.if_refused}});
  }
  tpu.how = HowText(tpu, found, login);
  return tpu;
}

Result<resolve::TpuNode> FindTpu(const resolve::Request& request,
                                 const sys::Host& host) {
  MUSTER_ASSIGN(const auto target, resolve::FindTpuTarget(request, host));
  if (target.kind != resolve::TpuTarget::Kind::kName) {
    return Error(
        Cause::kUsageInvalid,
        target.source + " is `" + Printable(target.text) +
            "`, which is not a TPU name: ssh requires a TPU name or --hosts");
  }
  MUSTER_ASSIGN(const auto place, resolve::PlaceTpu(target, request, host));
  return resolve::GetTpuNode(place, host);
}

Result<ReachedTpu> ReachTpu(const resolve::TpuNode& node,
                            const settings::ReachFlags& flags,
                            const sys::Host& host) {
  std::string account;
  if (node.os_login && flags.user.empty()) {
    MUSTER_ASSIGN(const auto bearer, cloud::BearerOf(host));
    account = bearer.who;
  }
  return Reach(node, flags, account, host);
}

Result<ReachedTpu> ReachTpu(const resolve::Request& request,
                            const settings::ReachFlags& flags,
                            const sys::Host& host) {
  MUSTER_ASSIGN(const auto node, FindTpu(request, host));
  return ReachTpu(node, flags, host);
}

bool NamesTpu(const resolve::Request& request, const sys::Host& host) {
  if (!request.cloud.tpu || request.hosts || request.cluster) {
    return false;
  }
  const auto target = resolve::FindTpuTarget(request, host);
  return target && target->kind == resolve::TpuTarget::Kind::kName;
}

std::optional<Finding> PartOfSlice(const ReachedTpu& tpu) {
  const auto all = tpu.node.endpoints.size();
  if (tpu.workers.size() == all) {
    return std::nullopt;
  }
  Finding finding = MakeFinding(
      Cause::kPartialSliceLaunch,
      "only " + tpu.workers.front().label + " of the " + std::to_string(all) +
          " workers of the TPU `" + Printable(tpu.node.name) +
          "` participates (flag --worker): a program that opens the TPU waits "
          "for the others",
      Confidence::kCertain);
  finding.severity = Severity::kWarning;
  return finding;
}

std::optional<Finding> WhyTpuGone(
    const std::function<Result<cloud::TpuNode>()>& ask) {
  const Deadline deadline = Deadline::After(kForTheApi);
  while (true) {
    const auto node = ask();
    if (!node && node.error().cause() == Cause::kTpuNotFound) {
      return FromError(node.error());
    }
    if (!node) {
      sys::PrintAside("muster: warn could not query the API for the reason: " +
                      node.error().ToString() + "\n");
      return std::nullopt;
    }
    if (auto why = cloud::WhyGone(*node)) {
      return why;
    }
    if (deadline.Remaining() <= kBetweenQuestions) {
      sys::PrintAside("muster: according to the API, the TPU is READY and " +
                      (node->health.empty() ? "reports no health"
                                            : Printable(node->health)) +
                      "\n");
      return std::nullopt;
    }
    internal::WaitUntil(Deadline::After(kBetweenQuestions), std::stop_token());
  }
}

std::optional<Finding> WhyTpuGone(const resolve::TpuPlace& place,
                                  const sys::Host& host) {
  // What was answered before the run is no answer now.
  const auto http = sys::MakeCurlHttp();
  const sys::Host now{.env = host.env,
                      .clock = host.clock,
                      .fs = host.fs,
                      .http = http.get(),
                      .names = host.names};
  return WhyTpuGone([&]() -> Result<cloud::TpuNode> {
    MUSTER_ASSIGN(auto node, resolve::GetTpuNode(place, now));
    return cloud::TpuNode(std::move(node));
  });
}

}  // namespace muster::remote

// SPDX-License-Identifier: Apache-2.0
// `muster tpu`: what its actions share.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "base/json_fwd.h"
#include "cli/command_line.h"
#include "cloud/tpu/tpu_api.h"
#include "remote/tpu_lifecycle.h"
#include "settings/settings.h"
#include "sys/host.h"

namespace muster::cli {

// What an action is given.
struct TpuCall {
  const CommandLine& line;
  const settings::Settings& settings;
  const sys::Host& host;

  bool json() const { return settings.output.value == settings::Output::kJson; }
  const TpuFlags& flags() const { return line.tpu; }
  cloud::RetryLimits request_timeout() const;
};

// Credentials, project and API. cloud-auth-missing; launch-env-missing: nobody
// tells the project.
Result<cloud::TpuApi> OpenApi(const TpuCall& call);
Result<cloud::TpuApi> OpenApi(const TpuCall& call,
                              cloud::RetryLimits request_timeout);
// The zone of a list: `-` with --all-zones or where none is told, which is
// said aside.
Result<Sourced<std::string>> ZoneOfList(const TpuCall& call,
                                        cloud::TpuApi& api);
// The zone that is told; nullopt: none. usage-invalid: a region, and its zones.
Result<std::optional<Sourced<std::string>>> GivenZone(const TpuCall& call,
                                                      cloud::TpuApi& api);

// The node that is named, in the zone that is told or else in all.
// tpu-not-found names those that there are, or the zone that has it;
// usage-invalid: several zones have one each.
Result<cloud::TpuNode> FindNode(const TpuCall& call, cloud::TpuApi& api);

// Columns as wide as they need to be, separated by two spaces.
std::string TableText(std::vector<std::vector<std::string>> rows);
// The actions. Each prints its result.
// 0, or the exit code of what it found; an Error: it could not begin.
Result<int> TpuDoctor(const TpuCall& call);
Status TpuAuth(const TpuCall& call);
Status TpuList(const TpuCall& call);
Status TpuDescribe(const TpuCall& call);
Status TpuTypes(const TpuCall& call);
Status TpuVersions(const TpuCall& call);
Status TpuQueuedList(const TpuCall& call);
Status TpuQueuedDescribe(const TpuCall& call);

// Prints the error; the exit code, 3 where it is not certain.
int TpuRefused(const Error& error, const TpuCall& call);

// The sub-command that makes the action.
template <auto kAct>
Result<int> TpuVerb(const CommandLine& line, const settings::Settings& settings,
                    const sys::Host& host) {
  const TpuCall call{.line = line, .settings = settings, .host = host};
  const auto done = kAct(call);
  if (!done) {
    return TpuRefused(done.error(), call);
  }
  if constexpr (std::is_same_v<decltype(done), const Result<int>>) {
    return *done;
  } else {
    return 0;
  }
}
}  // namespace muster::cli

// SPDX-License-Identifier: Apache-2.0
// What describes a cluster: TF_CONFIG, host lists, cluster files, whole
// environments (lines NAME=value), files of launchers, versions of packages.
// Whatever is accepted has members without holes and an own rank among them.
#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/text.h"
#include "cluster/members.h"
#include "resolve/environment/versions.h"
#include "resolve/output/export.h"
#include "resolve/resolve.h"
#include "tests/fuzz/fuzz.h"

namespace {

void Versions(const std::string& text) {
  const auto space = text.find(' ');
  static_cast<void>(muster::resolve::VersionFits(
      text.substr(0, space),
      space == std::string::npos ? text : text.substr(space + 1)));
  muster::sys::FakeEnv env;
  muster::sys::FakeClock clock;
  muster::sys::FakeFs fs;
  env.variables["VIRTUAL_ENV"] = "/v";
  fs.files["/v/lib/python3.11/site-packages/jax-0.4.1.dist-info/METADATA"] =
      text;
  fs.files["/v/lib/python3.11/site-packages/jaxlib-0.4.1.dist-info/x"] = "";
  const muster::sys::Host host{env, clock, fs};
  const auto packages = muster::resolve::FindPythonPackages(host);
  MUSTER_CHECK(packages.has_value());
  static_cast<void>(muster::resolve::CheckVersions(*packages, {text}));
  static_cast<void>(muster::resolve::CheckRequirement(text, host));
}

}  // namespace

void Fuzz(const std::string& bytes) {
  if (bytes.empty()) {
    return;
  }
  const std::string text = bytes.substr(1);
  muster::sys::FakeEnv env;
  muster::sys::FakeClock clock;
  muster::sys::FakeFs fs;
  muster::resolve::Request request;
  switch (static_cast<unsigned char>(bytes[0]) % 9) {
    case 0:
      env.variables["TF_CONFIG"] = text;
      break;
    case 1:
      request.hosts = text;
      request.rank = 0;
      break;
    case 2:
      env.variables = {{"RANK", "0"},
                       {"WORLD_SIZE", "2"},
                       {"MASTER_PORT", "29500"},
                       {"MASTER_ADDR", text}};
      break;
    case 3:
      for (const std::string& line : muster::Split(text, '\n')) {
        const auto equals = line.find('=');
        if (equals != std::string::npos && equals > 0) {
          env.variables[line.substr(0, equals)] = line.substr(equals + 1);
        }
      }
      fs.files["/file"] = text;
      break;
    case 4:
      fs.files["/opt/ml/input/config/resourceconfig.json"] = text;
      break;
    case 5:
      fs.files["/hosts"] = text;
      request.host_file = "/hosts";
      break;
    case 6:
      fs.files["/k.json"] = text;
      env.variables = {{"GOOGLE_APPLICATION_CREDENTIALS", "/k.json"},
                       {"TPU_CONFIG", text},
                       {"NO_GCE_CHECK", "true"}};
      break;
    case 7:
      return Versions(text);
    default:
      fs.files["/cluster.json"] = text;
      request.cluster = "/cluster.json";
  }
  const auto resolved = muster::resolve::Resolve(request, {env, clock, fs});
  if (resolved) {
    MUSTER_CHECK(muster::CheckMembers(resolved->cluster).has_value());
    MUSTER_CHECK(!muster::resolve::ToJson(*resolved).empty());
    static_cast<void>(resolved->cluster.Spec());
    static_cast<void>(muster::resolve::ExportText("shell", *resolved));
    MUSTER_CHECK(muster::resolve::RenderText(*resolved, {.verbose = true})
                     .find('\x1b') == std::string::npos);
  }
}

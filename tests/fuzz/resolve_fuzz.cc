// SPDX-License-Identifier: Apache-2.0
// What describes a cluster: TF_CONFIG, host lists, cluster files, and whole
// environments (lines NAME=value). Whatever is accepted has members without
// holes and an own rank among them.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/text.h"
#include "cluster/members.h"
#include "resolve/export.h"
#include "resolve/resolve.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  muster::sys::FakeEnv env;
  muster::sys::FakeClock clock;
  muster::sys::FakeFs fs;
  muster::resolve::Request request;
  switch (data[0] % 5) {
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
  return 0;
}

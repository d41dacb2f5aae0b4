// SPDX-License-Identifier: Apache-2.0
// What describes a cluster: TF_CONFIG, host lists, cluster files. Whatever is
// accepted has members without holes and an own rank among them.
#include <cstddef>
#include <cstdint>
#include <string>

#include "cluster/members.h"
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
  switch (data[0] % 4) {
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
    default:
      fs.files["/cluster.json"] = text;
      request.cluster = "/cluster.json";
  }
  const auto resolved = muster::resolve::Resolve(request, {env, clock, fs});
  if (resolved) {
    MUSTER_CHECK(muster::CheckMembers(resolved->cluster).has_value());
    MUSTER_CHECK(!muster::resolve::ToJson(*resolved).empty());
    static_cast<void>(resolved->cluster.Spec());
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Each grammar of resolve alone; the first byte picks one. Nothing accepted is
// larger than its limit, and every refusal is printable.
#include <cstdint>
#include <string>

#include "accelerator/tpu_type.h"
#include "base/json.h"
#include "muster/address.h"
#include "resolve/formats/endpoint.h"
#include "resolve/formats/host_file.h"
#include "resolve/formats/host_list.h"
#include "resolve/formats/key_values.h"
#include "resolve/formats/node_range.h"
#include "resolve/formats/roles.h"
#include "resolve/formats/task_map.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace muster::resolve;  // NOLINT(google-build-using-namespace)

template <typename T>
void Check(const muster::Result<T>& result) {
  if (!result) {
    for (const char c : result.error().message()) {
      MUSTER_CHECK(static_cast<unsigned char>(c) >= 0x20 || c == '\t');
    }
  }
}

void Tasks(const std::string& text) {
  const auto json = muster::ParseJson(text, muster::Cause::kClusterSpecInvalid,
                                      "cluster_spec");
  if (!json) {
    return;
  }
  const auto map = TaskMapFromJson(*json, "cluster_spec");
  Check(map);
  if (map) {
    const auto again = TaskMapFromJson(ToJson(*map), "cluster_spec");
    MUSTER_CHECK(again && *again == *map);
    Check(EstimatorRoleOf(*map, "worker", 0));
  }
}

}  // namespace

void Fuzz(const std::string& bytes) {
  if (bytes.empty()) {
    return;
  }
  const std::string text = bytes.substr(1);
  switch (static_cast<unsigned char>(bytes[0]) % 11) {
    case 0:
      if (const auto hosts = ExpandHostList(text); hosts) {
        MUSTER_CHECK(hosts->size() <= 65536);
      } else {
        Check(hosts);
      }
      break;
    case 1:
      Check(ExpandTasksPerNode(text));
      break;
    case 2:
      Check(ParseEndpoint(text, 1));
      break;
    case 3:
      Check(ParseTpuEndpoints(text));
      static_cast<void>(IsTpuEndpoints(text));
      break;
    case 4:
      Check(ParseHostFile(text, "`f`", {}));
      Check(ParseHostFile(text, "`f`",
                          {.default_slots = 1, .add_repeated = true}));
      break;
    case 5:
      Tasks(text);
      break;
    case 6:
      Check(ParseRdzvConf(text));
      break;
    case 7:
      static_cast<void>(ParseTpuEnv(text));
      break;
    case 8:
      Check(ParseNodeRange(text));
      break;
    case 9:
      Check(muster::accelerator::ParseWorkerEndpoints(text));
      break;
    default:
      static_cast<void>(muster::accelerator::ParseTpuType(text));
      static_cast<void>(muster::Address{.host = text}.IsLoopback());
  }
}

// SPDX-License-Identifier: Apache-2.0
// What muster::ResolveCluster answers here, as the parts of the document that
// `muster resolve --output json` prints of it. Arguments: NAME=VALUE of
// options.
#include <cstdio>
#include <string>
#include <string_view>

#include "base/json.h"
#include "cluster/cluster_json.h"
#include "muster/resolve.h"

int main(int argc, char** argv) {
  muster::ResolveOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto equals = argument.find('=');
    const auto name = argument.substr(0, equals);
    const std::string value(argument.substr(equals + 1));
    if (name == "source") {
      options.source = value;
    } else if (name == "profile") {
      options.profile = value;
    } else if (name == "cluster_file") {
      options.cluster_file = value;
    }
  }
  const auto cluster = muster::ResolveCluster(options);
  if (!cluster) {
    std::fprintf(stderr, "%s\n", cluster.error().ToString().c_str());
    return 1;
  }
  std::puts(muster::ToJson(*cluster).dump().c_str());
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// XLA's compile options, as the bytes that PJRT_Compile takes.
#pragma once

#include <string>

namespace muster::pjrt {

struct CompileOptions {
  int replicas = 1;
  int partitions = 1;
  // The module speaks of shardings in Shardy's dialect (sdy).
  bool shardy = false;
};

// A CompileOptionsProto. More than one partition: partitioned by the compiler
// (SPMD).
std::string Serialize(const CompileOptions& options);

}  // namespace muster::pjrt

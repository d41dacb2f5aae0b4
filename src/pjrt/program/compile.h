// SPDX-License-Identifier: Apache-2.0
// Asks a plug-in's compiler about a program, in a child that is ended at the
// deadline. The child takes no lock and asks no metadata server, so a job that
// runs on this host is not disturbed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/deadline.h"
#include "muster/error.h"
#include "pjrt/plugin/plugin.h"
#include "pjrt/program/hlo.h"

namespace muster::pjrt {

struct CompileRequest {
  std::string plugin;    // path
  std::string topology;  // "v5e:2x4"
  std::string code;
  int replicas = 1;
  std::optional<int> partitions;  // absent: one for each device
  bool shardy = false;
};

// What is known of the topology, whether the program compiles or not.
struct Accelerator {
  std::string kind;  // "TPU v5 lite"
  int devices = 0;
  std::optional<std::int64_t> memory;  // usable bytes of one device
};

struct Compiled {
  int replicas = 1, partitions = 1;
  Memory memory;
  std::optional<double> flops, bytes_accessed;
  // An Error: the plug-in does not give its compiled program, or not in the
  // form that is read here.
  Result<Holdings> holdings = Holdings{};
};

struct CompileAnswer {
  int api_minor = 0;
  std::string stablehlo;  // "1.24.0"; empty: the plug-in does not say
  Accelerator accelerator;
  // An Error: the compiler's refusal. rank-world-mismatch: more replicas and
  // partitions than devices, or none at all.
  Result<Compiled> result;
};

// An Error of this call: the compiler could not be asked. deadline-exceeded: no
// answer in time; framework-bug: the plug-in ended its process; usage-invalid:
// the plug-in does not know the topology; others as Plugin::Load. Main thread.
Result<CompileAnswer> CompileInChild(const CompileRequest& request,
                                     Deadline deadline);

}  // namespace muster::pjrt

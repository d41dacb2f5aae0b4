// SPDX-License-Identifier: Apache-2.0
// Texts of keys and values. Pure; errors are cluster-spec-invalid and name the
// position.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "muster/error.h"

namespace muster::resolve {

// torch's rendezvous configuration: "key=value,key=value". White space around
// keys and values does not count; an empty text has no keys.
Result<std::map<std::string, std::string>> ParseRdzvConf(std::string_view text);

// The metadata attribute tpu-env: lines "KEY: 'VALUE'"; empty ones, comments
// and the marks of a YAML document do not count. One of another form is no
// reason to refuse the others, which are written by others and grow: it is
// named.
struct TpuEnv {
  std::map<std::string, std::string> values;
  std::vector<std::string> odd;  // "line 3: `…` is not KEY: 'VALUE'"
};
TpuEnv ParseTpuEnv(std::string_view text);

}  // namespace muster::resolve

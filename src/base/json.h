// SPDX-License-Identifier: Apache-2.0
// JSON values, and the parser with an error that names the position. For .cc
// files only: headers include base/json_fwd.h.
#pragma once

#include <nlohmann/json.hpp>

#include "base/json_fwd.h"  // IWYU pragma: export

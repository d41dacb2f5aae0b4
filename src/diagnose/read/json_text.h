// SPDX-License-Identifier: Apache-2.0
// Text that lies inside of JSON: Kaggle's log and the outputs of a notebook.
#pragma once

#include <memory>
#include <string>

#include "diagnose/read/byte_sink.h"

namespace muster::diagnose {

// A JSON array of {"stream_name", "time", "data"}, or a notebook with outputs.
std::unique_ptr<ByteSink> MakeJsonText(std::string name,
                                       const Unpacking& unpacking);

}  // namespace muster::diagnose

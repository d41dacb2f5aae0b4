// SPDX-License-Identifier: Apache-2.0
// Archives, read from front to back: a member is unpacked while it arrives. A
// damaged or incomplete one ends early, with a note.
#pragma once

#include <memory>
#include <string>

#include "diagnose/read/byte_sink.h"

namespace muster::diagnose {

std::unique_ptr<ByteSink> MakeUntar(std::string name,
                                    const Unpacking& unpacking);
std::unique_ptr<ByteSink> MakeUnzip(std::string name,
                                    const Unpacking& unpacking);

}  // namespace muster::diagnose

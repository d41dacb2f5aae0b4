// SPDX-License-Identifier: Apache-2.0
// Compressed streams and other encodings. A damaged or incomplete one ends
// early, with a note.
#pragma once

#include <memory>
#include <string>

#include "diagnose/read/byte_sink.h"

namespace muster::diagnose {

std::unique_ptr<ByteSink> MakeGunzip(std::string name,
                                     const Unpacking& unpacking);
std::unique_ptr<ByteSink> MakeUnzstd(std::string name,
                                     const Unpacking& unpacking);
std::unique_ptr<ByteSink> MakeUtf16(std::string name, bool little_endian,
                                    const Unpacking& unpacking);

}  // namespace muster::diagnose

// SPDX-License-Identifier: Apache-2.0
// Bytes to numbers between 0 and 1.
#pragma once

#include <cstddef>
#include <cstdint>

namespace muster {

// out[i] = bytes[i] / 255, rounded correctly.
void BytesToUnit(const std::uint8_t* bytes, std::size_t count, float* out);

}  // namespace muster

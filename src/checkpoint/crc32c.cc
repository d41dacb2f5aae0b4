// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/crc32c.h"

#include <algorithm>
#include <cstdio>

#include <isa-l/crc.h>

namespace muster {

std::uint32_t Crc32c(std::uint32_t crc, std::span<const std::byte> bytes) {
  // The library's register is the complement of the value, its length an int.
  constexpr std::size_t kMaxCount = 1U << 30;
  std::uint32_t state = ~crc;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kMaxCount));
    // crc32_iscsi only reads.
    state = crc32_iscsi(
        reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece.data())),
        static_cast<int>(piece.size()), state);
    bytes = bytes.subspan(piece.size());
  }
  return ~state;
}

std::string CrcText(std::uint32_t crc) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", crc);
  return text;
}

}  // namespace muster

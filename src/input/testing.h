// SPDX-License-Identifier: Apache-2.0
// IDX files for tests.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// An IDX file of unsigned bytes with this shape and these elements.
inline std::string IdxBytes(const std::vector<std::uint32_t>& shape,
                            std::string_view elements) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(shape.size())};
  for (const std::uint32_t dimension : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes += static_cast<char>(dimension >> shift & 0xff);
    }
  }
  return bytes.append(elements);
}

inline std::string WriteTestFile(const std::string& path,
                                 std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace muster

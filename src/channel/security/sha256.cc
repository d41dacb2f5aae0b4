// SPDX-License-Identifier: Apache-2.0
#include "channel/security/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "muster/error.h"

namespace muster::channel {

std::string Sha256Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const int made = EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size,
                              EVP_sha256(), nullptr);
  MUSTER_CHECK(made == 1 && size == 32);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    hex += kDigits[digest[i] >> 4U];
    hex += kDigits[digest[i] & 0xFU];
  }
  return hex;
}

}  // namespace muster::channel

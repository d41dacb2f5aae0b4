// SPDX-License-Identifier: Apache-2.0
#include "channel/security/run_key.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>

#include "base/text.h"
#include "sys/file/private_file.h"

namespace muster::channel {
namespace {

constexpr std::size_t kShortestToken = 16;
constexpr std::size_t kLongestToken = 4096;
// HKDF's salt: what the keys are for, whatever else the token is used for.
constexpr std::string_view kSalt = "muster token v1";
constexpr std::string_view kHexDigits = "0123456789abcdef";

RunKey::Bytes Hmac(std::span<const std::uint8_t> key,
                   std::string_view message) {
  RunKey::Bytes mac{};
  unsigned size = 0;
  const auto* made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(message.data()),
           message.size(), mac.data(), &size);
  MUSTER_CHECK(made != nullptr && size == mac.size());
  return mac;
}

}  // namespace

RunKey::~RunKey() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

Result<RunKey> RunKey::FromToken(std::string_view token) {
  token = Trim(token);
  if (token.size() < kShortestToken) {
    return Error(
        Cause::kUsageInvalid,
        "a token of " + Count(static_cast<std::int64_t>(token.size()), "byte") +
            " can be guessed: at least " + std::to_string(kShortestToken) +
            " are needed (`head -c 32 /dev/urandom | base64`)");
  }
  return RunKey(
      Hmac({reinterpret_cast<const std::uint8_t*>(kSalt.data()), kSalt.size()},
           token));
}

Result<RunKey> RunKey::Random() {
  Bytes bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return Error(Cause::kInternalError, "there are no random numbers");
  }
  return RunKey(bytes);
}

Result<RunKey> RunKey::FromHex(std::string_view hex) {
  Bytes bytes{};
  const bool digits =
      hex.find_first_not_of(kHexDigits) == std::string_view::npos;
  if (hex.size() != 2 * kSize || !digits) {
    return Error(Cause::kNetWrongEndpoint,
                 "a run key that is not 64 digits of hexadecimal");
  }
  for (std::size_t i = 0; i < kSize; ++i) {
    const auto high = kHexDigits.find(hex[2 * i]);
    bytes[i] =
        static_cast<std::uint8_t>(high * 16 + kHexDigits.find(hex[2 * i + 1]));
  }
  return RunKey(bytes);
}

std::string RunKey::ToHex() const {
  std::string hex;
  for (const unsigned byte : bytes_) {
    hex += kHexDigits[byte / 16];
    hex += kHexDigits[byte % 16];
  }
  return hex;
}

// One block of HKDF-Expand is as long as a key. The length stands between the
// two parts, so that no other pair gives the same bytes.
RunKey RunKey::Derive(std::string_view purpose,
                      std::string_view context) const {
  std::string info = std::to_string(purpose.size()) + ":";
  info += purpose;
  info += context;
  info += '\x01';
  return RunKey(Hmac(bytes_, info));
}

RunKey::Bytes RunKey::Sign(std::string_view message) const {
  return Hmac(bytes_, message);
}

bool RunKey::Verifies(std::string_view message,
                      std::span<const std::uint8_t> mac) const {
  const Bytes right = Sign(message);
  return mac.size() == right.size() &&
         CRYPTO_memcmp(mac.data(), right.data(), right.size()) == 0;
}

Result<RunKey> ReadTokenFile(const std::string& path) {
  MUSTER_ASSIGN(std::string token, sys::ReadPrivateFile(path, kLongestToken));
  auto key = RunKey::FromToken(token);
  OPENSSL_cleanse(token.data(), token.size());
  if (!key) {
    return key.error().Reworded("`" + Printable(path) +
                                "`: " + key.error().message());
  }
  return key;
}

wire::Signer TokenSigner(const RunKey& token) {
  const auto key = token.Derive("muster mesh frame v1");
  return [key](std::string_view message) {
    const auto mac = key.Sign(message);
    return std::string(mac.begin(), mac.end());
  };
}

}  // namespace muster::channel

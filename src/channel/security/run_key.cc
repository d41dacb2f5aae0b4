// SPDX-License-Identifier: Apache-2.0
#include "channel/security/run_key.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
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

// One of the two halves of HKDF-SHA256: EXTRACT_ONLY with a salt, EXPAND_ONLY
// with an info.
RunKey::Bytes Hkdf(int mode, std::string_view key, const char* name,
                   std::string_view value) {
  EVP_KDF* hkdf = EVP_KDF_fetch(nullptr, OSSL_KDF_NAME_HKDF, nullptr);
  EVP_KDF_CTX* context = EVP_KDF_CTX_new(hkdf);
  char sha256[] = "SHA256";
  // OpenSSL only reads them.
  const auto bytes = [](const char* what, std::string_view text) {
    return OSSL_PARAM_construct_octet_string(
        what, const_cast<char*>(text.data()), text.size());
  };
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, sha256, 0),
      bytes(OSSL_KDF_PARAM_KEY, key), bytes(name, value),
      OSSL_PARAM_construct_end()};
  RunKey::Bytes derived{};
  const bool made =
      EVP_KDF_derive(context, derived.data(), derived.size(), parameters) == 1;
  EVP_KDF_CTX_free(context);
  EVP_KDF_free(hkdf);
  MUSTER_CHECK(made);
  return derived;
}

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
    return Error(Cause::kUsageInvalid,
                 "the token has only " +
                     Count(static_cast<std::int64_t>(token.size()), "byte") +
                     ": at least " + std::to_string(kShortestToken) +
                     " are required (`head -c 32 /dev/urandom | base64`)");
  }
  return RunKey(
      Hkdf(EVP_KDF_HKDF_MODE_EXTRACT_ONLY, token, OSSL_KDF_PARAM_SALT, kSalt));
}

Result<RunKey> RunKey::Random() {
  Bytes bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return Error(Cause::kInternalError, "no random numbers are available");
  }
  return RunKey(bytes);
}

Result<RunKey> RunKey::FromHex(std::string_view hex) {
  Bytes bytes{};
  const bool digits =
      hex.find_first_not_of(kHexDigits) == std::string_view::npos;
  if (hex.size() != 2 * kSize || !digits) {
    return Error(Cause::kNetWrongEndpoint,
                 "the run key is not 64 hexadecimal digits");
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

// The length stands between the two parts, so that no other pair gives the same
// bytes.
RunKey RunKey::Derive(std::string_view purpose,
                      std::string_view context) const {
  std::string info = std::to_string(purpose.size()) + ":";
  info += purpose;
  info += context;
  return RunKey(
      Hkdf(EVP_KDF_HKDF_MODE_EXPAND_ONLY,
           {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()},
           OSSL_KDF_PARAM_INFO, info));
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

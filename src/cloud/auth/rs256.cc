// SPDX-License-Identifier: Apache-2.0
#include "cloud/auth/rs256.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>
#include <vector>

#include "base/json.h"

namespace muster::cloud {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// A key with a passphrase is none of a service account; never asks for one.
int NoPassphrase(char*, int, int, void*) {
  return -1;
}

std::unique_ptr<EVP_PKEY, Free> ReadKey(const std::string& pem) {
  const std::unique_ptr<BIO, Free> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::unique_ptr<EVP_PKEY, Free> key(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  ERR_clear_error();
  return key;
}

Error Unusable(const SigningKey& key, const char* why) {
  return Error(Cause::kCloudAuthMissing,
               std::string("the private key") +
                   (key.id.empty() ? "" : " `" + key.id + "`") + " " + why);
}

}  // namespace

std::string Base64Url(std::string_view bytes) {
  std::string text;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : bytes) {
    held = (held << 8U) | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6; bits -= 6) {
      text += kLetters[(held >> static_cast<unsigned>(bits - 6)) & 63U];
    }
  }
  if (bits > 0) {
    text += kLetters[(held << static_cast<unsigned>(6 - bits)) & 63U];
  }
  return text;
}

std::string FromBase64Url(std::string_view text) {
  std::string bytes;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    const auto letter = kLetters.find(c);
    if (letter == std::string_view::npos) {
      return "";
    }
    held = (held << 6U) | static_cast<std::uint32_t>(letter);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>((held >> static_cast<unsigned>(bits)) & 255U);
    }
  }
  return bytes;
}

Result<Secret> SignedText(const SigningKey& key, const Json& claims) {
  const auto private_key = ReadKey(key.pem.Reveal());
  if (private_key == nullptr) {
    return Unusable(key, "is no key in PEM");
  }
  if (EVP_PKEY_get_base_id(private_key.get()) != EVP_PKEY_RSA) {
    return Unusable(key, "is no RSA key");
  }
  Json head{{"alg", "RS256"}, {"typ", "JWT"}};
  if (!key.id.empty()) {
    head["kid"] = key.id;
  }
  const auto dump = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  const std::string text =
      Base64Url(dump(head)) + "." + Base64Url(dump(claims));
  const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
  std::size_t size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr,
                         private_key.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1) {
    ERR_clear_error();
    return Unusable(key, "cannot sign");
  }
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(),
                     reinterpret_cast<unsigned char*>(signature.data()), &size,
                     bytes, text.size()) != 1) {
    ERR_clear_error();
    return Unusable(key, "cannot sign");
  }
  signature.resize(size);
  return Secret(text + "." + Base64Url(signature));
}

}  // namespace muster::cloud

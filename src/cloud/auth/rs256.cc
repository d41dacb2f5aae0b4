// SPDX-License-Identifier: Apache-2.0
#include "cloud/auth/rs256.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <memory>

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
  std::string text(4 * (bytes.size() / 3 + 1) + 1, '\0');  // and a zero byte
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()),
                      static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  text.erase(std::min(text.find('='), text.size()));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::string FromBase64Url(std::string_view text) {
  // OpenSSL skips white space around it and wants whole groups of four.
  const auto letters = std::min(text.find_first_not_of(kLetters), text.size());
  const auto padding = text.substr(letters);
  if (letters % 4 == 1 ||
      (!padding.empty() &&
       (text.size() % 4 != 0 || (padding != "=" && padding != "==")))) {
    return "";
  }
  std::string groups(text.substr(0, letters));
  std::replace(groups.begin(), groups.end(), '-', '+');
  std::replace(groups.begin(), groups.end(), '_', '/');
  groups.resize((letters + 3) / 4 * 4, '=');
  std::string bytes(groups.size() / 4 * 3, '\0');
  if (EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(groups.data()),
                      static_cast<int>(groups.size())) < 0) {
    return "";
  }
  bytes.resize(letters * 3 / 4);
  return bytes;
}

Result<Secret> SignedText(const SigningKey& key, const Json& claims) {
  const auto private_key = ReadKey(key.pem.Reveal());
  if (private_key == nullptr) {
    return Unusable(key, "is not a PEM key");
  }
  if (EVP_PKEY_get_base_id(private_key.get()) != EVP_PKEY_RSA) {
    return Unusable(key, "is not an RSA key");
  }
  Json head{{"alg", "RS256"}, {"typ", "JWT"}};
  if (!key.id.empty()) {
    head["kid"] = key.id;
  }
  const std::string text =
      Base64Url(Dump(head)) + "." + Base64Url(Dump(claims));
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

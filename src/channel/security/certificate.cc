// SPDX-License-Identifier: Apache-2.0
#include "channel/security/certificate.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <utility>

namespace muster::channel {
namespace {

constexpr std::size_t kLongestPem = 16 << 10;
constexpr long kVersion3 = 2;  // as X.509 counts

template <auto free>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using KeyHandle = std::unique_ptr<EVP_PKEY, Free<&EVP_PKEY_free>>;
using BioHandle = std::unique_ptr<BIO, Free<&BIO_free_all>>;
using X509Handle = std::unique_ptr<X509, Free<&X509_free>>;
using RequestHandle = std::unique_ptr<X509_REQ, Free<&X509_REQ_free>>;
using ExtensionHandle =
    std::unique_ptr<X509_EXTENSION, Free<&X509_EXTENSION_free>>;
using NamesHandle = std::unique_ptr<GENERAL_NAMES, Free<&GENERAL_NAMES_free>>;

// What OpenSSL remembers of failures must not be taken for those of a later
// call on this thread.
Error Failed(std::string_view what) {
  const auto code = ERR_peek_last_error();
  std::array<char, 160> text{};
  ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return Error(Cause::kInternalError,
               "OpenSSL could not " + std::string(what) + ": " + text.data());
}

BioHandle Reader(std::string_view pem) {
  return BioHandle(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

std::string Text(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

Result<std::string> KeyPem(EVP_PKEY* key) {
  const BioHandle bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0,
                                       nullptr, nullptr) != 1) {
    return Failed("write a private key");
  }
  return Text(bio.get());
}

X509Handle ParsePem(std::string_view pem) {
  if (pem.empty() || pem.size() > kLongestPem) {
    return nullptr;
  }
  const auto bio = Reader(pem);
  X509Handle x509(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return x509;
}

bool SetName(X509_NAME* name, const std::string& text) {
  return X509_NAME_add_entry_by_txt(
             name, "CN", MBSTRING_UTF8,
             reinterpret_cast<const unsigned char*>(text.data()),
             static_cast<int>(text.size()), -1, 0) == 1;
}

bool Extend(X509* x509, int kind, const std::string& value) {
  const ExtensionHandle extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()));
  return extension && X509_add_ext(x509, extension.get(), -1) == 1;
}

bool SetTimes(X509* x509, const Span& good) {
  using std::chrono::system_clock;
  return ASN1_TIME_set(X509_getm_notBefore(x509),
                       system_clock::to_time_t(good.from)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(x509),
                       system_clock::to_time_t(good.until)) != nullptr;
}

bool SetSerial(X509* x509) {
  std::array<unsigned char, 16> random{};
  if (RAND_bytes(random.data(), random.size()) != 1) {
    return false;
  }
  random[0] &= 0x7f;  // positive
  std::unique_ptr<BIGNUM, Free<&BN_free>> number(
      BN_bin2bn(random.data(), random.size(), nullptr));
  return number && BN_to_ASN1_INTEGER(number.get(),
                                      X509_get_serialNumber(x509)) != nullptr;
}

// The profile of an X509-SVID: one URI, no authority, both sides of TLS.
bool SetUse(X509* x509, const Subject& subject) {
  return Extend(x509, NID_basic_constraints, "critical,CA:FALSE") &&
         Extend(x509, NID_key_usage, "critical,digitalSignature") &&
         Extend(x509, NID_ext_key_usage, "serverAuth,clientAuth") &&
         Extend(x509, NID_subject_alt_name, "critical,URI:" + ToUri(subject));
}

WallTime TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    return {};
  }
  return WallTime(std::chrono::seconds(timegm(&parts)));
}

std::string CommonName(const X509_NAME* name) {
  std::array<char, 200> text{};
  const int size = X509_NAME_get_text_by_NID(name, NID_commonName, text.data(),
                                             static_cast<int>(text.size()));
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size))
                  : std::string();
}

// Of exactly one name, which has to be a URI of ours.
std::optional<Subject> SubjectOf(const X509* x509) {
  const NamesHandle names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(x509, NID_subject_alt_name, nullptr, nullptr)));
  if (!names || sk_GENERAL_NAME_num(names.get()) != 1) {
    return std::nullopt;
  }
  const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), 0);
  if (name->type != GEN_URI) {
    return std::nullopt;
  }
  const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
  return SubjectFromUri(
      {reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
       static_cast<std::size_t>(ASN1_STRING_length(uri))});
}

std::string Fingerprint(const X509* x509) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  X509_digest(x509, EVP_sha256(), bytes.data(), &size);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += kDigits[bytes[i] / 16U];
    text += kDigits[bytes[i] % 16U];
  }
  return text;
}

}  // namespace

struct Authority::Key {
  KeyHandle key;
};

Span From(WallTime now, Duration life) {
  const auto wall = [](Duration time) {
    return std::chrono::duration_cast<WallTime::duration>(time);
  };
  return {now - wall(kClockTolerance), now + wall(life)};
}

Result<CertificateRequest> MakeRequest() {
  const KeyHandle key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  const RequestHandle request(X509_REQ_new());
  const BioHandle bio(BIO_new(BIO_s_mem()));
  if (!key || !request || !bio || X509_REQ_set_version(request.get(), 0) != 1 ||
      X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) <= 0 ||
      PEM_write_bio_X509_REQ(bio.get(), request.get()) != 1) {
    return Failed("create a certificate request");
  }
  MUSTER_ASSIGN(std::string pem, KeyPem(key.get()));
  return CertificateRequest{.key = std::move(pem), .request = Text(bio.get())};
}

Result<Authority> Authority::Of(const RunKey& key, std::string name) {
  KeyHandle handle(EVP_PKEY_new_raw_private_key(
      EVP_PKEY_ED25519, nullptr, key.bytes().data(), key.bytes().size()));
  if (!handle) {
    return Failed("create the key of the certificate authority");
  }
  return Authority(std::make_shared<const Key>(Key{.key = std::move(handle)}),
                   std::move(name));
}

Result<Credential> Authority::Issue(const Subject& subject,
                                    const Span& good) const {
  MUSTER_ASSIGN(CertificateRequest request, MakeRequest());
  MUSTER_ASSIGN(std::string certificate,
                IssueFor(request.request, subject, good));
  return Credential{.key = std::move(request.key),
                    .certificate = std::move(certificate)};
}

Result<std::string> Authority::IssueFor(std::string_view request,
                                        const Subject& subject,
                                        const Span& good) const {
  const auto bio = Reader(request.substr(0, kLongestPem));
  const RequestHandle asked(
      PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
  EVP_PKEY* const key = asked ? X509_REQ_get0_pubkey(asked.get()) : nullptr;
  if (key == nullptr || X509_REQ_verify(asked.get(), key) != 1) {
    ERR_clear_error();
    return Error(
        Cause::kNetWrongEndpoint,
        "the certificate request is malformed or not signed with its own key");
  }
  const X509Handle x509(X509_new());
  const BioHandle out(BIO_new(BIO_s_mem()));
  if (!x509 || !out || X509_set_version(x509.get(), kVersion3) != 1 ||
      !SetSerial(x509.get()) || !SetTimes(x509.get(), good) ||
      !SetName(X509_get_issuer_name(x509.get()), name_) ||
      X509_set_pubkey(x509.get(), key) != 1 || !SetUse(x509.get(), subject) ||
      X509_sign(x509.get(), key_->key.get(), nullptr) <= 0 ||
      PEM_write_bio_X509(out.get(), x509.get()) != 1) {
    return Failed("issue a certificate");
  }
  return Text(out.get());
}

bool Authority::Signed(std::string_view certificate) const {
  const auto x509 = ParsePem(certificate);
  const bool ours = x509 && X509_verify(x509.get(), key_->key.get()) == 1;
  ERR_clear_error();
  return ours;
}

std::optional<Certificate> ReadCertificate(std::string_view pem) {
  const auto x509 = ParsePem(pem);
  if (!x509) {
    return std::nullopt;
  }
  Certificate certificate;
  certificate.subject = SubjectOf(x509.get());
  certificate.good = {TimeOf(X509_get0_notBefore(x509.get())),
                      TimeOf(X509_get0_notAfter(x509.get()))};
  certificate.issuer = CommonName(X509_get_issuer_name(x509.get()));
  certificate.fingerprint = Fingerprint(x509.get());
  certificate.authority = X509_check_ca(x509.get()) != 0;
  ERR_clear_error();
  return certificate;
}

}  // namespace muster::channel

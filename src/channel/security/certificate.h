// SPDX-License-Identifier: Apache-2.0
// Certificates of the secured channel: making them and reading them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "channel/security/run_key.h"
#include "channel/security/spiffe_id.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "muster/fact.h"

namespace muster::channel {

// A private key (P-256) and what goes with it, as PEM.
struct Credential {
  std::string key;
  std::string certificate;
};
struct CertificateRequest {
  std::string key;
  std::string request;
};
// internal-error.
Result<CertificateRequest> MakeRequest();

// From when until when a certificate is good.
struct Span {
  WallTime from{};
  WallTime until{};
};
// Good now, for so long, and already by a clock that is a little behind.
Span From(WallTime now, Duration life);
// How far clocks may differ without anybody being refused.
inline constexpr Duration kClockTolerance = std::chrono::minutes(5);

// What is read of a certificate. Whose signature is under it an Authority says.
struct Certificate {
  std::optional<Subject> subject;  // nullopt: not exactly one URI of ours
  Span good;
  std::string issuer;       // common name: "muster token", "muster run ID"
  std::string fingerprint;  // SHA-256 of its bytes, in hexadecimal
  bool authority = false;   // says that it may issue others
};

// Issues and recognizes certificates by one Ed25519 key. A value that can be
// shared; any thread.
class Authority {
 public:
  // The same key makes the same authority on every host.
  static Result<Authority> Of(const RunKey& key, std::string name);

  // A new key and a certificate for it.
  Result<Credential> Issue(const Subject& subject, const Span& good) const;
  // A certificate for the key of a request, which has to be signed with it
  // (net-wrong-endpoint: it is not one, or is not).
  Result<std::string> IssueFor(std::string_view request, const Subject& subject,
                               const Span& good) const;
  // Whether this authority signed the certificate (PEM).
  bool Signed(std::string_view certificate) const;
  const std::string& name() const { return name_; }

 private:
  struct Key;
  Authority(std::shared_ptr<const Key> key, std::string name)
      : key_(std::move(key)), name_(std::move(name)) {}

  std::shared_ptr<const Key> key_;  // by copies
  std::string name_;
};

// Reads a certificate of a peer (PEM, any bytes): nullopt when it is none.
std::optional<Certificate> ReadCertificate(std::string_view pem);

}  // namespace muster::channel

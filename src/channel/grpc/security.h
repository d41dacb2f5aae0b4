// SPDX-License-Identifier: Apache-2.0
// The secured channel over gRPC: credentials of both ends, the gate that every
// call passes, and refusals as they travel. Seen by the gRPC transport only.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "channel/security/certificate_store.h"
#include "muster/error.h"

namespace muster::channel {

// Mutual TLS for a listener. TLS proves that the caller has the key of the
// certificate that it shows; what the certificate is worth is judged for every
// call, by the keyring, so that a refusal can say why. Without a keyring: clear
// text.
Result<std::shared_ptr<grpc::ServerCredentials>> ToListen(
    const std::shared_ptr<Keyring>& keyring);

// What was seen of the server of one channel. Any thread.
class ServerSeen {
 public:
  void Set(Result<Subject> who, std::string certificate);
  std::optional<Error> error() const;  // why it is not trusted
  std::optional<Subject> subject() const;
  std::string certificate() const;

 private:
  mutable Mutex mutex_;
  std::optional<Result<Subject>> who_ MUSTER_GUARDED_BY(mutex_);
  std::string certificate_ MUSTER_GUARDED_BY(mutex_);
};

// For a channel that shows `own` and lets `expected` answer. `seen` may be
// null.
std::shared_ptr<grpc::ChannelCredentials> ToCall(
    const std::shared_ptr<Keyring>& keyring, const Credential& own,
    Keyring::Expected expected, const std::shared_ptr<ServerSeen>& seen);

// For a channel over TLS without a certificate and to anybody: to be told why
// it is refused, for nothing else.
std::shared_ptr<grpc::ChannelCredentials> ToBeRefused();

// Every call says of which run and epoch it is, as far as that is known.
void SayWhere(grpc::ClientContext& context, const Keyring& keyring);

// The certificate that a caller has shown (PEM); empty: none.
std::string CertificateOf(const grpc::AuthContext& context);

// A refusal and back. nullopt: the status is none of ours.
grpc::Status ToStatus(const Error& refusal);
std::optional<Error> RefusalIn(const grpc::Status& status);

}  // namespace muster::channel

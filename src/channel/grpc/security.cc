// SPDX-License-Identifier: Apache-2.0
#include "channel/grpc/security.h"

#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace muster::channel {
namespace {

constexpr const char* kRunField = "muster-run";
constexpr const char* kEpochField = "muster-epoch";

std::string_view View(const grpc::string_ref& text) {
  return {text.data(), text.size()};
}

// Every call of every service of the server passes here, known or not.
class Gate : public grpc::AuthMetadataProcessor {
 public:
  explicit Gate(std::shared_ptr<CertificateStore> certificates)
      : certificates_(std::move(certificates)) {}

  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata& fields, grpc::AuthContext* context,
                       OutputMetadata*, OutputMetadata*) override {
    const auto method = Field(fields, ":path");
    const auto epoch = Field(fields, kEpochField);
    const auto number = epoch.empty() ? std::nullopt : ParseInt(epoch);
    std::optional<Error> refusal;
    if (!epoch.empty() && (!number || *number < 0 || *number > kLastEpoch)) {
      refusal = Error(Cause::kRankWorldMismatch,
                      "`" + Printable(epoch) + "` is not a valid epoch");
    } else {
      refusal = certificates_->WhyRefused(
          method, CertificateOf(*context), Field(fields, kRunField),
          number ? std::optional(static_cast<int>(*number)) : std::nullopt);
    }
    if (!refusal) {
      return grpc::Status::OK;
    }
    MUSTER_LOG(kDebug, "a call was refused",
               {{"method", Printable(method)}, {"why", refusal->ToString()}});
    return ToStatus(*refusal);
  }

 private:
  static constexpr std::int64_t kLastEpoch = 1'000'000'000;

  static std::string_view Field(const InputMetadata& fields,
                                std::string_view name) {
    const auto at = fields.find({name.data(), name.size()});
    return at == fields.end() ? std::string_view() : View(at->second);
  }

  const std::shared_ptr<CertificateStore>
      certificates_;  // also the transport's
};

// Judges the certificate of a server when the handshake is done.
class Judge : public grpc::experimental::ExternalCertificateVerifier {
 public:
  Judge(std::shared_ptr<CertificateStore> certificates,
        CertificateStore::Expected expected, std::shared_ptr<ServerSeen> seen)
      : certificates_(std::move(certificates)),
        expected_(expected),
        seen_(std::move(seen)) {}

  bool Verify(grpc::experimental::TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)>,
              grpc::Status* verdict) override {
    const auto certificate = View(request->peer_cert());
    auto who = certificates_->WhoAnswers(certificate, expected_);
    *verdict = who ? grpc::Status::OK : ToStatus(who.error());
    if (seen_) {
      seen_->Set(std::move(who), std::string(certificate));
    }
    return true;
  }
  void Cancel(grpc::experimental::TlsCustomVerificationCheckRequest*) override {
  }

 private:
  // Also the transport's and the caller's.
  const std::shared_ptr<CertificateStore> certificates_;
  const CertificateStore::Expected expected_;
  const std::shared_ptr<ServerSeen> seen_;
};

}  // namespace

Result<std::shared_ptr<grpc::ServerCredentials>> ToListen(
    const std::shared_ptr<CertificateStore>& certificates) {
  if (!certificates) {
    return grpc::InsecureServerCredentials();
  }
  MUSTER_ASSIGN(Credential own, certificates->ForListening());
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_BUT_DONT_VERIFY);
  options.pem_key_cert_pairs.push_back(
      {std::move(own.key), std::move(own.certificate)});
  auto credentials = grpc::SslServerCredentials(options);
  credentials->SetAuthMetadataProcessor(std::make_shared<Gate>(certificates));
  return credentials;
}

void ServerSeen::Set(Result<Subject> who, std::string certificate) {
  MutexLock lock(mutex_);
  who_.emplace(std::move(who));
  certificate_ = std::move(certificate);
}

std::optional<Error> ServerSeen::error() const {
  MutexLock lock(mutex_);
  return who_ && !*who_ ? std::optional(who_->error()) : std::nullopt;
}

std::optional<Subject> ServerSeen::subject() const {
  MutexLock lock(mutex_);
  return who_ && *who_ ? std::optional(**who_) : std::nullopt;
}

std::string ServerSeen::certificate() const {
  MutexLock lock(mutex_);
  return certificate_;
}

std::shared_ptr<grpc::ChannelCredentials> ToCall(
    const std::shared_ptr<CertificateStore>& certificates,
    const Credential& own, CertificateStore::Expected expected,
    const std::shared_ptr<ServerSeen>& seen) {
  namespace tls = grpc::experimental;
  tls::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(
      std::make_shared<tls::StaticDataCertificateProvider>(
          std::vector<tls::IdentityKeyCertPair>{{own.key, own.certificate}}));
  options.watch_identity_key_cert_pairs();
  // Names and dates are the judge's: it says what is wrong, and the host's
  // name in an address is no part of an identity here.
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  options.set_certificate_verifier(
      tls::ExternalCertificateVerifier::Create<Judge>(certificates, expected,
                                                      seen));
  return tls::TlsCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> ToBeRefused() {
  namespace tls = grpc::experimental;
  tls::TlsChannelCredentialsOptions options;
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  options.set_certificate_verifier(
      std::make_shared<tls::NoOpCertificateVerifier>());
  return tls::TlsCredentials(options);
}

void SayWhere(grpc::ClientContext& context,
              const CertificateStore& certificates) {
  const auto place = certificates.place();
  if (!place.run.empty()) {
    context.AddMetadata(kRunField, place.run);
    context.AddMetadata(kEpochField, std::to_string(place.epoch));
  }
}

std::string CertificateOf(const grpc::AuthContext& context) {
  const auto found =
      context.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  return found.empty() ? std::string() : std::string(View(found.front()));
}

grpc::Status ToStatus(const Error& refusal) {
  const bool unknown = refusal.cause() == Cause::kVerPeerMismatch ||
                       refusal.cause() == Cause::kClockSkew;
  return {unknown ? grpc::StatusCode::UNAUTHENTICATED
                  : grpc::StatusCode::PERMISSION_DENIED,
          std::string(Label(refusal.cause())) + ": " + refusal.message()};
}

std::optional<Error> RefusalIn(const grpc::Status& status) {
  if (status.error_code() != grpc::StatusCode::UNAUTHENTICATED &&
      status.error_code() != grpc::StatusCode::PERMISSION_DENIED) {
    return std::nullopt;
  }
  const std::string said = Printable(status.error_message());
  const auto colon = said.find(": ");
  const auto cause = CauseFromLabel(said.substr(0, colon));
  if (!cause || colon == std::string::npos) {
    return std::nullopt;
  }
  return Error(*cause,
               "the remote agent rejected the call: " + said.substr(colon + 2));
}

}  // namespace muster::channel

// SPDX-License-Identifier: Apache-2.0
#include "channel/security/certificate_store.h"

#include <utility>

namespace muster::channel {
namespace {

using std::chrono::hours;

constexpr Duration kDay = hours(24);
// A listener's certificate cannot be exchanged while it listens.
constexpr Duration kMaxValidity = 366 * kDay;
// Proofs that are remembered. Beyond, none is accepted any more: a token holder
// that joins so often is not a member that starts again.
constexpr std::size_t kMaxJoined = 100'000;

}  // namespace

Result<std::shared_ptr<CertificateStore>> CertificateStore::OfMember(
    const RunKey& token, int rank, const sys::Clock& clock) {
  MUSTER_ASSIGN(
      Authority authority,
      Authority::Of(token.Derive("muster authority v1"), "muster token"));
  return std::shared_ptr<CertificateStore>(new CertificateStore(
      std::move(authority), std::nullopt,
      {.run = "", .role = Role::kMember, .rank = rank}, clock));
}

Result<std::shared_ptr<CertificateStore>> CertificateStore::OfCoordinator(
    const RunKey& token, std::string run, const sys::Clock& clock) {
  MUSTER_ASSIGN(
      Authority authority,
      Authority::Of(token.Derive("muster authority v1"), "muster token"));
  MUSTER_ASSIGN(const RunKey seed, RunKey::Random());
  MUSTER_ASSIGN(Authority own, Authority::Of(seed, "muster run"));
  MUSTER_ASSIGN(const RunKey run_key, RunKey::Random());
  auto certificates = std::shared_ptr<CertificateStore>(new CertificateStore(
      std::move(authority), std::move(own),
      {.run = "", .role = Role::kCoordinator, .rank = 0}, clock));
  MutexLock lock(certificates->mutex_);
  certificates->place_ = {.run = std::move(run), .epoch = 0};
  certificates->run_key_ = run_key;
  return certificates;
}

Result<Credential> CertificateStore::ForListening() const {
  return token_.Issue(self_, From(clock_.WallNow(), kMaxValidity));
}

Result<Credential> CertificateStore::ForCalling() const {
  return token_.Issue(self_, From(clock_.WallNow(), kDay));
}

CertificateStore::Place CertificateStore::place() const {
  MutexLock lock(mutex_);
  return place_;
}

std::optional<RunKey> CertificateStore::run_key() const {
  MutexLock lock(mutex_);
  return run_key_;
}

void CertificateStore::BeginEpoch(int epoch) {
  MutexLock lock(mutex_);
  place_.epoch = epoch;
}

std::optional<Error> CertificateStore::WhyRefused(
    std::string_view method, std::string_view certificate, std::string_view run,
    std::optional<int> epoch) const {
  Call call{.method = method, .run = run, .epoch = epoch};
  call.certificate = ReadCertificate(certificate);
  if (call.certificate && token_.Signed(certificate)) {
    call.issuer = Issuer::kToken;
  } else if (call.certificate && run_authority_ &&
             run_authority_->Signed(certificate)) {
    call.issuer = Issuer::kRun;
  }
  Place here;
  {
    MutexLock lock(mutex_);
    here = place_;
    if (call.issuer == Issuer::kToken) {
      call.replayed = joined_.contains(call.certificate->fingerprint);
    }
    if (call.issuer == Issuer::kRun && call.certificate->subject) {
      const auto slot = slots_.find(call.certificate->subject->rank);
      call.superseded =
          slot == slots_.end() ||
          slot->second.fingerprint != call.certificate->fingerprint;
    }
  }
  return channel::WhyRefused(call, {.role = self_.role,
                                    .rank = self_.rank,
                                    .run = here.run,
                                    .epoch = here.epoch,
                                    .now = clock_.WallNow()});
}

Result<Admitted> CertificateStore::Admit(std::string_view certificate,
                                         std::string_view request) {
  const auto proof = ReadCertificate(certificate);
  if (!run_authority_ || !proof || !proof->subject) {
    return Error(
        Cause::kNetWrongEndpoint,
        "an agent that is not the coordinator responds at this address");
  }
  const int rank = proof->subject->rank;
  MutexLock lock(mutex_);
  const auto held = slots_.find(rank);
  if (held != slots_.end() && held->second.links > 0) {
    return Error(Cause::kDuplicateIdentity,
                 "the slot of rank " + std::to_string(rank) +
                     " is taken: an agent has already joined with it");
  }
  if (joined_.size() >= kMaxJoined ||
      !joined_.insert(proof->fingerprint).second) {
    return Error(Cause::kDuplicateIdentity,
                 "a token proof that was already used was replayed");
  }
  Subject admitted = *proof->subject;
  admitted.run = place_.run;
  MUSTER_ASSIGN(std::string issued,
                run_authority_->IssueFor(request, admitted,
                                         From(clock_.WallNow(), kDay)));
  slots_[rank].fingerprint = ReadCertificate(issued)->fingerprint;
  return Admitted{.certificate = std::move(issued),
                  .run = place_.run,
                  .epoch = place_.epoch,
                  .run_key = run_key_->ToHex()};
}

std::optional<int> CertificateStore::Attends(std::string_view certificate,
                                             int change) {
  const auto shown = ReadCertificate(certificate);
  if (!shown || !shown->subject) {
    return std::nullopt;
  }
  MutexLock lock(mutex_);
  const auto slot = slots_.find(shown->subject->rank);
  if (slot != slots_.end() && slot->second.fingerprint == shown->fingerprint) {
    slot->second.links += change;
  }
  return shown->subject->rank;
}

Status CertificateStore::Join(const Admitted& admitted, std::string key,
                              std::string_view coordinator) {
  const auto certificate = ReadCertificate(admitted.certificate);
  const auto server = ReadCertificate(coordinator);
  Subject expected = self_;
  expected.run = admitted.run;
  if (!server || !certificate || certificate->subject != expected) {
    return Error(Cause::kNetWrongEndpoint,
                 "the coordinator issued a certificate that is not for " +
                     Who(self_) + " of its run");
  }
  MUSTER_ASSIGN(const RunKey run_key, RunKey::FromHex(admitted.run_key));
  MutexLock lock(mutex_);
  place_ = {.run = admitted.run, .epoch = admitted.epoch};
  run_key_ = run_key;
  admitted_ =
      Credential{.key = std::move(key), .certificate = admitted.certificate};
  coordinator_ = server->fingerprint;
  return Ok();
}

std::optional<Credential> CertificateStore::ForRendezvousClient() const {
  MutexLock lock(mutex_);
  return admitted_;
}

Result<Subject> CertificateStore::WhoAnswers(std::string_view certificate,
                                             Expected expected) const {
  const auto shown = ReadCertificate(certificate);
  const Issuer issuer =
      shown && token_.Signed(certificate) ? Issuer::kToken : Issuer::kUnknown;
  if (auto bad = WhyNotGood(shown, issuer, clock_.WallNow(),
                            "the agent at this address")) {
    return *std::move(bad);
  }
  if (expected != Expected::kAnyone &&
      shown->subject->role != Role::kCoordinator) {
    return Error(Cause::kNetWrongEndpoint,
                 "the agent of " + Who(*shown->subject) +
                     " responds at this address, not the coordinator");
  }
  MutexLock lock(mutex_);
  if (expected == Expected::kAdmitter && coordinator_ != shown->fingerprint) {
    return Error(Cause::kDuplicateIdentity,
                 "a different coordinator than the one that admitted this "
                 "member responds at this address");
  }
  return *shown->subject;
}

}  // namespace muster::channel

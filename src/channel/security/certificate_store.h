// SPDX-License-Identifier: Apache-2.0
// What one process needs on the secured channel: its certificates, and the
// judgement of those of others.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "channel/security/certificate.h"
#include "channel/security/rpc_authorization.h"
#include "channel/security/run_key.h"
#include "channel/security/spiffe_id.h"
#include "muster/error.h"
#include "sys/time/clock.h"

namespace muster::channel {

// What a member gets when it joins.
struct Admitted {
  std::string certificate;  // of its slot, by the run's authority
  std::string run;
  int epoch = 0;
  std::string run_key;  // RunKey::ToHex
};

// Any thread.
//
// The token makes one authority on every host: whoever holds it issues itself a
// certificate that proves so (docs/adr/0007). The coordinator has a second
// authority, made of random numbers for this run alone; with it a member that
// joins gets the certificate of its slot.
class Keyring {
 public:
  // A member's, or, with the id of its run, the coordinator's. `clock` outlives
  // it. internal-error.
  static Result<std::shared_ptr<Keyring>> OfMember(const RunKey& token,
                                                   int rank,
                                                   const sys::Clock& clock);
  static Result<std::shared_ptr<Keyring>> OfCoordinator(
      const RunKey& token, std::string run, const sys::Clock& clock);

  const Subject& self() const { return self_; }

  // To be called: good for as long as a run can be.
  Result<Credential> ForListening() const;
  // To call: a new one at each request, good for a day, so that each can prove
  // the token once.
  Result<Credential> ForCalling() const;

  // Of the run, once this process is in it; else empty.
  struct Place {
    std::string run;
    int epoch = 0;
  };
  Place place() const;
  // 32 bytes that the members of the run share; nullopt before this process is
  // in it.
  std::optional<RunKey> run_key() const;
  // Members of an older epoch are refused from now on. Coordinator only.
  void BeginEpoch(int epoch);

  // What arrives: as WhyRefused of admission.h. `certificate`: PEM, or empty.
  std::optional<Error> WhyRefused(std::string_view method,
                                  std::string_view certificate,
                                  std::string_view run,
                                  std::optional<int> epoch) const;
  // Coordinator: admits the owner of a certificate for whom WhyRefused of Join
  // had no objection, and gives the slot to the key of the request. Each proof
  // of the token joins once. A slot that is attended for is not given away:
  // duplicate-identity. net-wrong-endpoint: no valid request.
  Result<Admitted> Admit(std::string_view certificate,
                         std::string_view request);
  // Coordinator: how many links attend with a certificate, +1 or -1; gives the
  // rank of its slot.
  std::optional<int> Attends(std::string_view certificate, int change);

  // Member: what came of joining. The one who answered is from now on the only
  // coordinator (by its certificate).
  Status Join(const Admitted& admitted, std::string key,
              std::string_view coordinator);
  // Member: the certificate of its slot; nullopt before it joined.
  std::optional<Credential> ForAttending() const;

  // Who has to answer a call of ours.
  enum class Expected {
    kAnyone,       // a holder of the token
    kCoordinator,  // a coordinator
    kAdmitter,     // the coordinator that admitted this member
  };
  // Who answers, by the certificate (PEM) of a server. ver-peer-mismatch,
  // clock-skew; net-wrong-endpoint: somebody else than is expected;
  // duplicate-identity: another coordinator.
  Result<Subject> WhoAnswers(std::string_view certificate,
                             Expected expected) const;

 private:
  Keyring(Authority token, std::optional<Authority> run_authority, Subject self,
          const sys::Clock& clock)
      : token_(std::move(token)),
        run_authority_(std::move(run_authority)),
        self_(std::move(self)),
        clock_(clock) {}

  struct Slot {
    std::string fingerprint;
    int links = 0;
  };

  const Authority token_;
  const std::optional<Authority> run_authority_;  // the coordinator's
  const Subject self_;                            // without a run
  const sys::Clock& clock_;

  mutable Mutex mutex_;
  Place place_ MUSTER_GUARDED_BY(mutex_);
  std::optional<RunKey> run_key_ MUSTER_GUARDED_BY(mutex_);
  // The coordinator's.
  std::set<std::string> joined_ MUSTER_GUARDED_BY(mutex_);  // fingerprints
  std::map<int, Slot> slots_ MUSTER_GUARDED_BY(mutex_);     // by rank
  // The member's.
  std::optional<Credential> admitted_ MUSTER_GUARDED_BY(mutex_);
  std::string coordinator_ MUSTER_GUARDED_BY(mutex_);  // fingerprint
};

}  // namespace muster::channel

// SPDX-License-Identifier: Apache-2.0
// What a stranger may show or ask before anybody knows who it is: a
// certificate, a request for one, a name, an epoch of another run.
#include <cstdint>
#include <string>

#include "channel/security/certificate.h"
#include "channel/security/rpc_authorization.h"
#include "tests/fuzz/fuzz.h"

void Fuzz(const std::string& bytes) {
  namespace connect = muster::connect;
  static const auto authority = connect::Authority::Of(
      *connect::RunKey::FromToken("the token of a fuzzer"), "fuzz");
  const auto subject = connect::SubjectFromUri(bytes);
  MUSTER_CHECK(!subject || connect::ToUri(*subject) == bytes);
  const auto read = connect::ReadCertificate(bytes);
  MUSTER_CHECK(!authority->Signed(bytes));
  for (const auto& rule : connect::AdmissionTable()) {
    MUSTER_CHECK(connect::WhyRefused(
        {.method = rule.method, .certificate = read, .run = bytes},
        {.role = connect::Role::kCoordinator, .run = "R"}));
  }
  const auto issued = authority->IssueFor(
      bytes, {.run = "R"}, connect::From(muster::WallTime{}, {}));
  MUSTER_CHECK(!issued || authority->Signed(*issued));
}

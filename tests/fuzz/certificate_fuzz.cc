// SPDX-License-Identifier: Apache-2.0
// What a stranger may show or ask before anybody knows who it is: a
// certificate, a request for one, a name, an epoch of another run.
#include <cstdint>
#include <string>

#include "channel/security/certificate.h"
#include "channel/security/rpc_authorization.h"
#include "tests/fuzz/fuzz.h"

void Fuzz(const std::string& bytes) {
  static const auto authority = muster::channel::Authority::Of(
      *muster::channel::RunKey::FromToken("the token of a fuzzer"), "fuzz");
  const auto subject = muster::channel::SubjectFromUri(bytes);
  MUSTER_CHECK(!subject || muster::channel::ToUri(*subject) == bytes);
  const auto read = muster::channel::ReadCertificate(bytes);
  MUSTER_CHECK(!authority->Signed(bytes));
  for (const auto& rule : muster::channel::RpcAuthorizationTable()) {
    MUSTER_CHECK(muster::channel::WhyRefused(
        {.method = rule.method, .certificate = read, .run = bytes},
        {.role = muster::channel::Role::kCoordinator, .run = "R"}));
  }
  const auto issued = authority->IssueFor(
      bytes, {.run = "R"}, muster::channel::From(muster::WallTime{}, {}));
  if (!issued) {
    return CheckError(issued.error());
  }
  MUSTER_CHECK(authority->Signed(*issued));
}

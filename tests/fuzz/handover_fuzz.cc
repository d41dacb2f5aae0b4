// SPDX-License-Identifier: Apache-2.0
// What another host or process hands over as text: the report of a run, what
// an agent over ssh is to do, what the other side of ssh answers, what came of
// a check in its own process. The first byte picks one.
#include <string>

#include "base/json.h"
#include "check/outcome_json.h"
#include "record/journal.h"
#include "record/report.h"
#include "remote/agent_bootstrap.h"
#include "remote/ssh.h"
#include "sys/fake/fake_fs.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace muster;  // NOLINT(google-build-using-namespace)

void Report(const std::string& text) {
  const auto report = ParseJson(text, Cause::kNetWrongEndpoint, "the report");
  if (!report) {
    return CheckError(report.error());
  }
  const std::string page = record::RenderReport(*report);
  CheckPrintable(page);
  sys::FakeFs fs;
  const auto kept =
      record::KeepReport(fs, "/runs", *report, sys::Fs::Access::kOwner);
  if (!kept) {
    return CheckError(kept.error());
  }
  // What is written reads again as the same, and nothing lies elsewhere.
  for (const auto& [path, written] : fs.files) {
    MUSTER_CHECK(path.starts_with("/runs/") &&
                 path.find("..") == std::string::npos);
    if (path.ends_with(".json")) {
      const auto again = ParseJson(written, Cause::kFileCorrupt, "again");
      MUSTER_CHECK(again && record::RenderReport(*again) == page);
    }
  }
}

void Bootstrap(const std::string& line) {
  const auto handed = remote::ReadBootstrapLine(line);
  if (!handed) {
    MUSTER_CHECK(handed.error().cause() == Cause::kUsageInvalid);
    return CheckError(handed.error());
  }
  const auto again = remote::ReadBootstrapLine(remote::ToLine(*handed));
  MUSTER_CHECK(again && again->args == handed->args &&
               again->token == handed->token);
}

void Ssh(const std::string& text) {
  const auto line = text.substr(0, text.find('\n'));
  remote::SshEnd end{.login = {.host = "h"}, .said = text};
  end.answer = remote::ReadSshAnswer(line);
  CheckPrintable(RenderText(remote::WhyNotStarted(end), {}));
  if (end.answer) {
    end.waited = std::chrono::seconds(1);
    CheckPrintable(RenderText(remote::WhyNotStarted(end), {}));
  }
  static_cast<void>(remote::SaysLost(text));
}

void CheckOutcome(const std::string& text) {
  const auto outcome = check::Decode(text);
  if (!outcome) {
    return CheckError(outcome.error());
  }
  const std::string written = check::Encode(*outcome);
  const auto again = check::Decode(written);
  MUSTER_CHECK(again && check::Encode(*again) == written);
}

}  // namespace

void Fuzz(const std::string& bytes) {
  if (bytes.empty()) {
    return;
  }
  const std::string text = bytes.substr(1);
  switch (static_cast<unsigned char>(bytes[0]) % 4) {
    case 0:
      return Report(text);
    case 1:
      return Bootstrap(text);
    case 2:
      return Ssh(text);
    default:
      return CheckOutcome(text);
  }
}

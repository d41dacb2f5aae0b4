// SPDX-License-Identifier: Apache-2.0
// Google's services and files: credentials, tokens, answers of the Cloud TPU
// API, what this user has asked for before. The first byte picks one, the
// second what is asked; the first line of an answer is its header.
#include <string>

#include "base/json.h"
#include "cloud/api/api_error.h"
#include "cloud/api/project_zone.h"
#include "cloud/api/timestamp.h"
#include "cloud/auth/credentials.h"
#include "cloud/testing.h"
#include "cloud/tpu/tpu_api.h"
#include "cloud/tpu/tpu_journal.h"
#include "cloud/tpu/tpu_state.h"
#include "cloud/tpu/worker_address.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace muster::cloud;  // NOLINT(google-build-using-namespace)

constexpr const char* kToken = R"({"access_token": "T", "expires_in": 3600})";
constexpr const char* kUser =
    R"({"type": "authorized_user", "client_id": "i", "client_secret": "s",
        "refresh_token": "r"})";

RetryLimits Twice(FakeCloud& cloud) {
  RetryLimits limits = cloud.Patient();
  limits.tries = 2;
  return limits;
}

// Whether it has a value; else the error is fit for a user.
bool Holds(const auto& result) {
  if (!result) {
    CheckError(result.error());
  }
  return result.has_value();
}

void GiveAnswer(FakeCloud& cloud, unsigned kind, const std::string& text) {
  constexpr int kStatuses[] = {200, 400, 401, 403, 404, 429, 503, 302};
  const auto line = text.find('\n');
  const std::string header = text.substr(0, line);
  cloud.http.Answer(kStatuses[kind % 8],
                    line == std::string::npos ? "" : text.substr(line + 1),
                    {{"date", header},
                     {"retry-after", header},
                     {"location", header},
                     {"metadata-flavor", "Google"}});
}

void Fetch(FakeCloud& cloud) {
  auto found = Credentials::Find(cloud.host);
  if (!Holds(found)) {
    return;
  }
  Sender sender(cloud.host, Twice(cloud));
  const auto token = found->Get(sender);
  if (Holds(token)) {
    MUSTER_CHECK(!(*token)->text.empty());
  }
  CheckPrintable(found->Who() + found->source() + found->project() +
                 found->quota_project());
}

void Node(const TpuNode& node, TpuApi& api, const FakeCloud& cloud) {
  const Outlook outlook = OutlookOf(node);
  CheckPrintable(ProgressText(node.name, outlook, std::chrono::seconds(5)));
  if (outlook.error) {
    CheckError(*outlook.error);
  }
  if (const auto gone = WhyGone(node)) {
    CheckPrintable(RenderText(*gone, {}));
  }
  CheckPrintable(CreateCommand(node));
  for (const auto choice : {AddressChoice::kAuto, AddressChoice::kExternal}) {
    if (const auto found = FindWorkers(node, "all", choice, cloud.host);
        Holds(found)) {
      MUSTER_CHECK(found->workers.size() == node.endpoints.size());
      CheckPrintable(found->why);
    }
  }
  if (const auto login = FindLogin(node, "", "me@example.com", cloud.host);
      Holds(login)) {
    CheckPrintable(login->if_refused);
  }
  // Another one like it.
  static_cast<void>(Holds(api.CreateNode({.name = "t", .like = node.chosen})));
}

void Ask(FakeCloud& cloud, unsigned kind) {
  cloud.env.variables["CLOUDSDK_AUTH_ACCESS_TOKEN"] = "T";
  TpuApi api(cloud.host, *Credentials::Find(cloud.host), {"p", "flag"},
             Twice(cloud));
  const auto list = [](const auto& all) {
    if (Holds(all)) {
      for (const std::string& zone : all->unreachable) {
        CheckPrintable(zone);
      }
    }
  };
  switch (kind / 8 % 7) {
    case 0:
      if (const auto node = api.Node("z", "t"); Holds(node)) {
        Node(*node, api, cloud);
      }
      return;
    case 1:
      if (const auto queued = api.QueuedResourceOf("z", "t"); Holds(queued)) {
        const Outlook outlook = OutlookOf(*queued);
        CheckPrintable(ProgressText(queued->name, outlook, {}));
        if (outlook.error) {
          CheckError(*outlook.error);
        }
      }
      return;
    case 2:
      return list(api.Types("-"));
    case 3:
      return list(api.Versions("z"));
    case 4:
      static_cast<void>(Holds(api.Zones()));
      return;
    case 5:
      return list(api.Nodes("-"));
    default:
      if (const auto operation = api.OperationOf("o", "TPU `t`");
          Holds(operation) && operation->error) {
        CheckError(*operation->error);
      }
  }
}

void Journal(const std::string& text) {
  FakeCloud cloud;
  cloud.env.variables["XDG_STATE_HOME"] = "/s";
  std::string& file = cloud.fs.files["/s/muster/tpu.jsonl"];
  file = text;
  auto journal = *TpuJournal::Open(cloud.host);
  const auto unfinished = journal.Unfinished();
  for (const JournaledTpu& made : unfinished) {
    CheckPrintable(WriterText(made));
    static_cast<void>(IsAtWork(made, cloud.host));
    MUSTER_CHECK(made.request.empty() || journal.Find(made.request) != nullptr);
    MUSTER_CHECK(journal.Write(TpuStep::kMade, made).has_value());
  }
  // What was written over and over is still the same.
  const auto again = TpuJournal::Open(cloud.host)->Unfinished();
  MUSTER_CHECK(again.size() == unfinished.size());
  for (std::size_t i = 0; i < again.size(); ++i) {
    MUSTER_CHECK(again[i].name == unfinished[i].name &&
                 again[i].request == unfinished[i].request);
    MUSTER_CHECK(TpuJournal::Open(cloud.host)->Write(TpuStep::kGone, again[i]));
  }
  MUSTER_CHECK(TpuJournal::Open(cloud.host)->Unfinished().empty());
}

void Words(const std::string& text) {
  if (const auto time = ParseTimestamp(text)) {
    const auto again = ParseTimestamp(muster::ToString(*time));
    MUSTER_CHECK(again && *again == *time);
  }
  if (const auto wait = ParseProtoDuration(text)) {
    MUSTER_CHECK(*wait >= muster::Duration::zero());
  }
  static_cast<void>(ParseHttpDate(text));
  FakeCloud cloud;
  cloud.env.variables["CLOUDSDK_CONFIG"] = "/g";
  cloud.fs.files["/g/active_config"] = text.substr(0, text.find('\n'));
  cloud.fs.files["/g/configurations/config_default"] = text;
  if (const auto project = FindProject({}, "", cloud.host)) {
    MUSTER_CHECK(!project->value.empty());
    CheckPrintable(project->source);
  }
}

}  // namespace

void Fuzz(const std::string& bytes) {
  if (bytes.size() < 2) {
    return;
  }
  const auto kind = static_cast<unsigned char>(bytes[1]);
  const std::string text = bytes.substr(2);
  FakeCloud cloud;
  switch (static_cast<unsigned char>(bytes[0]) % 6) {
    case 0:
      cloud.GiveFile(text);
      cloud.http.Answer(200, kToken);
      return Fetch(cloud);
    case 1:
      cloud.GiveFile(kUser);
      GiveAnswer(cloud, kind, text);
      return Fetch(cloud);
    case 2:  // the metadata server
      GiveAnswer(cloud, kind, text);
      return Fetch(cloud);
    case 3:
      GiveAnswer(cloud, kind, text);
      return Ask(cloud, kind);
    case 4:
      return Journal(text);
    default:
      return Words(text);
  }
}

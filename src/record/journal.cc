// SPDX-License-Identifier: Apache-2.0
#include "record/journal.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "record/report.h"
#include "record/run_folder.h"

namespace muster::record {
namespace {

constexpr std::string_view kDocument = "report.json";

Status WriteBoth(sys::Fs& fs, const std::string& folder, const Json& report) {
  const std::string text = Dump(report, 2) + "\n";
  MUSTER_TRY(fs.Write(sys::JoinPath(folder, kDocument), text));
  return fs.Write(sys::JoinPath(folder, "report.md"), RenderReport(report));
}

}  // namespace

std::string MakeRunId(WallTime at, int pid) {
  // Without letters and digits that are mistaken for each other.
  constexpr std::string_view kLetters = "23456789abcdefghjkmnpqrstuvwxyz";
  const std::string time = ToString(at);  // 2026-11-21T14:35:19.000123Z
  std::string id = time.substr(0, 4) + time.substr(5, 2) + time.substr(8, 2) +
                   "-" + time.substr(11, 2) + time.substr(14, 2) +
                   time.substr(17, 2) + "-";
  const std::string digest = Digest(time + "/" + std::to_string(pid));
  for (std::size_t i = 0; i < 4; ++i) {
    const auto byte = std::stoul(digest.substr(4 * i, 4), nullptr, 16);
    id += kLetters[byte % kLetters.size()];
  }
  return id;
}

Status KeepReport(sys::Fs& fs, const std::string& runs_dir, const Json& report,
                  sys::Fs::Access access) {
  const std::string id =
      report.is_object() && report.contains("run") && report["run"].is_string()
          ? report["run"].get<std::string>()
          : "";
  if (!IsRunId(id)) {
    return Error(Cause::kNetWrongEndpoint,
                 "the report of the first host has no run ID");
  }
  const std::string folder = sys::JoinPath(runs_dir, id);
  if (fs.Exists(sys::JoinPath(folder, kDocument))) {
    return Ok();
  }
  MUSTER_TRY(fs.MakeDirectories(folder, access));
  MUSTER_TRY(fs.Link(id, sys::JoinPath(runs_dir, "latest")));
  return WriteBoth(fs, folder, report);
}

Result<std::unique_ptr<Journal>> Journal::Open(const sys::Host& host,
                                               const std::string& runs_dir,
                                               const std::string& id,
                                               sys::Fs::Access access) {
  const std::string folder = sys::JoinPath(runs_dir, id);
  MUSTER_TRY(host.fs.MakeDirectories(folder, access));
  MUSTER_TRY(host.fs.Link(id, sys::JoinPath(runs_dir, "latest")));
  MUSTER_ASSIGN(auto file,
                host.fs.OpenAppender(sys::JoinPath(folder, "events.jsonl")));
  return std::unique_ptr<Journal>(new Journal(host, folder, std::move(file)));
}

void Journal::Append(Fact& fact) {
  if (fact.at == WallTime{}) {
    fact.at = host_.clock.EventNow();
  }
  // Text of ranks and peers may be broken UTF-8, which JSON does not take.
  const std::string line = Dump(ToJson(fact)) + "\n";
  if (auto written = file_->Append(line); !written && !failure_) {
    failure_ = std::move(written).error().While("writing events.jsonl");
  }
}

void Journal::Record(Fact fact) {
  Append(fact);
  facts_.push_back(std::move(fact));
}

void Journal::Note(Fact fact) {
  Append(fact);
}

Result<Json> Journal::WriteReport() {
  Json report = BuildReport(facts_);
  MUSTER_TRY(WriteBoth(host_.fs, folder_, report));
  return report;
}

std::optional<Error> Journal::TakeFailure() {
  if (!failure_ || failure_told_) {
    return std::nullopt;
  }
  failure_told_ = true;
  return failure_;
}

}  // namespace muster::record

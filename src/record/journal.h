// SPDX-License-Identifier: Apache-2.0
// The folder of a run and the facts in it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "muster/error.h"
#include "muster/fact.h"
#include "sys/host.h"

namespace muster::record {

// "20261121-143519-7k2m": when the run began (UTC), and four letters that tell
// runs of one second apart.
std::string MakeRunId(WallTime at, int pid);

// The report of a run that another host has written, as RUNS_DIR/ID/report.json
// and report.md on this one, with the link RUNS_DIR/latest. Where it is already
// (a shared disk, the same host) nothing is written. net-wrong-endpoint: it has
// no id of a run; else those of Fs.
Status KeepReport(sys::Fs& fs, const std::string& runs_dir, const Json& report,
                  sys::Fs::Access access);

// runs/ID/: events.jsonl, the report, and the link runs/latest. Each fact is in
// the file before Record returns. When the disk is full the run goes on: the
// facts are kept in memory and the failure is told once. Not thread-safe.
class Journal {
 public:
  // Makes RUNS_DIR/ID; errors are those of Fs.
  static Result<std::unique_ptr<Journal>> Open(
      const sys::Host& host, const std::string& runs_dir, const std::string& id,
      sys::Fs::Access access = sys::Fs::Access::kOwner);

  // A fact that the report is made from; one without a time gets that of now.
  void Record(Fact fact);
  // One that is kept in the file only: there may be many.
  void Note(Fact fact);

  // Writes report.json and report.md; the document.
  Result<Json> WriteReport();

  std::span<const Fact> facts() const { return facts_; }
  const std::string& folder() const { return folder_; }
  // The first failure to write; told once.
  std::optional<Error> TakeFailure();

 private:
  Journal(const sys::Host& host, std::string folder,
          std::unique_ptr<sys::Appender> file)
      : host_(host), folder_(std::move(folder)), file_(std::move(file)) {}
  void Append(Fact& fact);

  const sys::Host& host_;
  std::string folder_;
  std::unique_ptr<sys::Appender> file_;
  std::vector<Fact> facts_;
  std::optional<Error> failure_;
  bool failure_told_ = false;
};

}  // namespace muster::record

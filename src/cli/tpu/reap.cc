// SPDX-License-Identifier: Apache-2.0
// `muster tpu reap`: removes what was created from here and nobody kept.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "cli/tpu/change.h"
#include "cloud/api/remedies.h"
#include "finding/exit_code.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

// What another process may still be at is left to it, and that is said.
bool IsLeftToAnother(const cloud::JournaledTpu& made, const sys::Host& host) {
  const auto at_work = IsAtWork(made, host);
  if (at_work == cloud::AtWork::kNo) {
    return false;
  }
  sys::PrintAside("muster: " + remote::NameOf(made) +
                  " is kept: " + WriterText(made) +
                  (at_work == cloud::AtWork::kYes
                       ? " still manages it\n"
                       : ", which is not visible from here, may manage it "
                         "until a day after " +
                             ToString(made.at) + ": muster tpu " +
                             (made.kind == "queued" ? "queued " : "") +
                             "delete " + Printable(made.name) + " --zone " +
                             Printable(made.zone) + "\n"));
  return true;
}

Json ToJson(const cloud::JournaledTpu& made) {
  return {{"kind", made.kind}, {"name", made.name},
          {"zone", made.zone}, {"project", made.project},
          {"type", made.type}, {"request", made.request}};
}

// What is there and bears its request id. tpu-not-found: nothing of it.
Result<std::string> StateOf(cloud::TpuApi& api,
                            const cloud::JournaledTpu& made) {
  const Error other(Cause::kTpuNotFound, "another TPU has the name");
  if (made.kind == "queued") {
    MUSTER_ASSIGN(const auto queued,
                  api.QueuedResourceOf(made.zone, made.name));
    return queued.request == made.request ? Result<std::string>(queued.state)
                                          : other;
  }
  MUSTER_ASSIGN(const auto node, api.Node(made.zone, made.name));
  return node.request == made.request ? Result<std::string>(node.state) : other;
}

struct Lost {
  std::vector<cloud::JournaledTpu> there;
  std::vector<std::vector<std::string>> rows;
};

// Those that are there. What the cloud does not have is written down as gone.
Result<Lost> FindLost(const TpuCall& call, cloud::TpuApi& api,
                      cloud::TpuJournal& journal) {
  Lost lost;
  for (const cloud::JournaledTpu& made : journal.Unfinished()) {
    if (made.project != api.project().value) {
      sys::PrintAside("muster: " + remote::NameOf(made) +
                      " belongs to project " + Printable(made.project) +
                      ": set --project\n");
      continue;
    }
    if (IsLeftToAnother(made, call.host)) {
      continue;
    }
    api.sender().SetDeadline(
        Deadline::After(call.settings.request_timeout.value));
    const auto state = StateOf(api, made);
    if (state) {
      lost.there.push_back(made);
      lost.rows.push_back({made.kind, Printable(made.name),
                           Printable(made.zone), Printable(made.type),
                           Printable(*state), ToString(made.at)});
    } else if (state.error().cause() != Cause::kTpuNotFound) {
      return state.error();
    } else if (!call.flags().dry_run) {
      MUSTER_TRY(journal.Write(cloud::TpuStep::kGone, made, "not found"));
    }
  }
  return lost;
}

void PrintReaped(const TpuCall& call, const char* field,
                 const std::vector<cloud::JournaledTpu>& made,
                 const std::vector<cloud::Removed>& left) {
  if (call.json()) {
    Json document{{"schema", "muster.tpu.reap/1"}};
    document[field] = Json::array();
    document["left"] = Json::array();
    for (const cloud::JournaledTpu& one : made) {
      document[field].push_back(ToJson(one));
    }
    for (const cloud::Removed& one : left) {
      document["left"].push_back(ToJson(one.made));
      document["left"].back()["finding"] =
          ToJson(cloud::FindingOf(*one.error, call.host));
    }
    sys::PrintDocument(document);
    return;
  }
  for (const cloud::JournaledTpu& one : made) {
    sys::PrintResult(remote::NameOf(one) + " is deleted\n");
  }
}

}  // namespace

Result<int> TpuReap(const TpuCall& call) {
  MUSTER_ASSIGN(auto found, OpenApi(call));
  MUSTER_ASSIGN(auto journal, cloud::TpuJournal::Open(call.host));
  MUSTER_ASSIGN(auto lost, FindLost(call, found, journal));
  if (lost.there.empty()) {
    if (call.json()) {
      PrintReaped(call, "removed", {}, {});
    } else {
      sys::PrintResult("no leftover resources that were created from here in " +
                       remote::OfProject(found) + " (`" +
                       Printable(journal.path()) + "`)\n");
    }
    return 0;
  }
  lost.rows.insert(lost.rows.begin(),
                   {"KIND", "NAME", "ZONE", "TYPE", "STATE", "SINCE"});
  if (call.flags().dry_run) {
    if (call.json()) {
      PrintReaped(call, "would_remove", lost.there, {});
    } else {
      sys::PrintResult(TableText(lost.rows));
    }
    return 0;
  }
  sys::PrintAside(TableText(lost.rows));
  MUSTER_TRY(Confirm(
      call,
      "delete " +
          Count(static_cast<std::int64_t>(lost.there.size()), "resource") +
          " of " + remote::OfProject(found) +
          " created from here and not kept, with all data on the disks"));
  MUSTER_ASSIGN(const auto stoppable, remote::MakeStoppable(call.settings));
  MUSTER_ASSIGN(auto api, OpenApi(call, stoppable));
  std::vector<cloud::TpuRemoval> removals;
  for (const cloud::JournaledTpu& made : lost.there) {
    removals.emplace_back(api, journal, made);
    removals.back().Seen();
  }
  const auto removed =
      cloud::RemoveAll(std::move(removals), api, stoppable.waiting);
  std::vector<cloud::JournaledTpu> gone;
  std::vector<cloud::Removed> left;
  for (const cloud::Removed& one : removed) {
    if (one.error) {
      left.push_back(one);
    } else {
      gone.push_back(one.made);
    }
  }
  const Status all = remote::PrintRemoved(removed);
  if (call.json() && gone.empty()) {
    return all.error();
  }
  PrintReaped(call, "removed", gone, left);
  if (call.json() && !all) {
    return TpuExitCode(all.error().cause());  // told in the document
  }
  MUSTER_TRY(all);
  return 0;
}

}  // namespace muster::cli

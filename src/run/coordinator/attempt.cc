// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/attempt.h"

#include <algorithm>
#include <iterator>

#include "sys/process/spawner.h"

namespace muster::run {
namespace {

wire::Exit ExitOf(int wait_status) {
  wire::Exit exit;
  exit.wait_status = wait_status;
  return exit;
}

}  // namespace

Attempt::Attempt(const Cluster& cluster, int number, std::vector<Agent> agents)
    : cluster_(cluster), number_(number), agents_(std::move(agents)) {}

bool Attempt::Runs(int agent, int rank) const {
  return std::any_of(agents_.begin(), agents_.end(), [&](const Agent& known) {
    return known.number == agent &&
           std::find(known.ranks.begin(), known.ranks.end(), rank) !=
               known.ranks.end();
  });
}

void Attempt::Exited(wire::RankExited exited) {
  ends_.emplace(exited.rank, std::move(exited));
}

bool Attempt::Lost(int agent, const Error& why, WallTime at) {
  bool lost = false;
  for (const Agent& known : agents_) {
    if (known.number != agent || !stopped_.insert(agent).second) {
      continue;
    }
    diagnose::AgentLoss loss{.host = known.host,
                             .cause = why.cause(),
                             .message = why.message(),
                             .at = at};
    for (const int rank : known.ranks) {
      if (!ends_.contains(rank)) {
        loss.ranks.push_back(rank);
        gone_.insert(rank);
      }
    }
    // Nothing was lost where all ranks had ended.
    if (!loss.ranks.empty()) {
      lost_.push_back(std::move(loss));
      lost = true;
    }
  }
  return lost;
}

void Attempt::Stopped(int agent, wire::Stopped stopped) {
  if (stopped_.insert(agent).second) {
    leftovers_ += stopped.leftovers;
    std::ranges::move(stopped.logs, std::back_inserter(logs_));
  }
}

void Attempt::StandsStill(monitor::Standstill standstill, WallTime at) {
  for (diagnose::Stall& stall : standstill.ranks) {
    stall.name = Name(cluster_.members[static_cast<std::size_t>(stall.rank)]);
    stall.at = at;
  }
  standstill_ = std::move(standstill);
}

bool Attempt::Failed(const wire::RankExited& exited) {
  return exited.wait_status != 0 || exited.could_not_start;
}

bool Attempt::Done() const {
  return std::all_of(cluster_.members.begin(), cluster_.members.end(),
                     [&](const Member& member) {
                       return !Trains(member) || EndedWell(member.rank);
                     });
}

std::string Attempt::BeingStarted() const {
  for (const auto& [rank, exited] : ends_) {
    if (exited.pid == 0 && !exited.could_not_start) {
      return Name(cluster_.members[static_cast<std::size_t>(rank)]);
    }
  }
  return "";
}

bool Attempt::EndedWell(int rank) const {
  const auto end = ends_.find(rank);
  return end != ends_.end() && !Failed(end->second) &&
         end->second.sent_signal == 0;
}

std::vector<std::string> Attempt::Awaited() const {
  bool any_ended = false;
  std::vector<std::string> left;
  for (const Member& member : cluster_.members) {
    if (!Trains(member)) {
      continue;
    }
    any_ended |= EndedWell(member.rank);
    if (!ends_.contains(member.rank) && !gone_.contains(member.rank)) {
      left.push_back(Name(member));
    }
  }
  return any_ended ? left : std::vector<std::string>();
}

bool Attempt::ChiefLeftItsWorkers() const {
  bool servers = false;
  bool chief = false;
  for (const Member& member : cluster_.members) {
    servers |= member.task == "ps";
    chief |= member.task == "chief" && EndedWell(member.rank);
  }
  return servers && chief;
}

bool Attempt::EndedAll() const {
  return ends_.size() + gone_.size() >= cluster_.members.size();
}

std::vector<int> Attempt::Unstopped() const {
  std::vector<int> agents;
  for (const Agent& agent : agents_) {
    if (!stopped_.contains(agent.number)) {
      agents.push_back(agent.number);
    }
  }
  return agents;
}

int Attempt::Running() const {
  return static_cast<int>(cluster_.members.size() - ends_.size() -
                          gone_.size());
}

AttemptReach Attempt::Reach() const {
  AttemptReach reach;
  for (const auto& [rank, exited] : ends_) {
    reach.step = std::max(reach.step, exited.progress.step);
    reach.checkpoint =
        std::max(reach.checkpoint, exited.progress.checkpoint_step);
  }
  return reach;
}

diagnose::AttemptEnd Attempt::End() const {
  diagnose::AttemptEnd end{.world_size = cluster_.WorldSize(),
                           .lost = lost_,
                           .stop_cause = stop_cause_};
  for (const auto& [rank, exited] : ends_) {
    end.ends.push_back(
        {.rank = rank,
         .name = Name(cluster_.members[static_cast<std::size_t>(rank)]),
         .could_not_start = exited.could_not_start,
         .wait_status = exited.wait_status,
         .sent_signal = exited.sent_signal,
         .at = exited.at,
         .error_cause = exited.error_cause,
         .error_message = exited.error_message,
         .facts = exited.facts,
         .last_lines = exited.last_lines,
         .phase = exited.progress.phase,
         .step = exited.progress.step});
  }
  if (standstill_) {
    end.stalls = standstill_->ranks;
    end.culprits = standstill_->culprits;
    end.stall_confidence = standstill_->confidence;
    end.stall_reason = standstill_->why;
  }
  return end;
}

record::Failure Attempt::RootOf(const diagnose::Verdict& verdict) const {
  record::Failure failure{.cause = verdict.findings.empty()
                                       ? Cause::kInternalError
                                       : verdict.findings.front().cause,
                          .rank = verdict.rank,
                          .step = verdict.step};
  const auto end = ends_.find(verdict.rank);
  const wire::Exit exit = ExitOf(verdict.wait_status);
  switch (verdict.kind) {
    case diagnose::RootKind::kProgram:
      failure.kind = end != ends_.end() && end->second.could_not_start
                         ? record::Failure::Kind::kNotStarted
                         : record::Failure::Kind::kExit;
      failure.status = exit.code();
      break;
    case diagnose::RootKind::kSignal:
      failure.kind = record::Failure::Kind::kSignal;
      failure.status = exit.signal().value_or(0);
      break;
    case diagnose::RootKind::kOutside:
      failure.kind = record::Failure::Kind::kHostLost;
      break;
    case diagnose::RootKind::kStall:
      failure.kind = record::Failure::Kind::kStandstill;
      break;
    case diagnose::RootKind::kNone:
      failure.kind = record::Failure::Kind::kSetUp;
      break;
  }
  return failure;
}

}  // namespace muster::run

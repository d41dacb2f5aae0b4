// SPDX-License-Identifier: Apache-2.0
#include "netcheck/bandwidth/bandwidth_leader.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "netcheck/bandwidth/bandwidth_judge.h"
#include "netcheck/mesh/peer_json.h"

namespace muster::netcheck {
namespace {

constexpr std::chrono::seconds kTellEvery{1};
constexpr std::chrono::seconds kFarewell{2};
// Beyond what a meter itself takes at the longest.
constexpr std::chrono::seconds kReport{3};

LinkBandwidth Unmeasured(const RankPair& pair, std::string why) {
  return {.a = pair.first,
          .b = pair.second,
          .passes = 1,
          .stopped = std::move(why)};
}

}  // namespace

BandwidthLead::BandwidthLead(sys::Loop& loop, Options options)
    : loop_(loop), options_(std::move(options)) {
  for (const Member& member : options_.cluster->members) {
    if (member.rank != 0 && member.address) {
      awaited_.insert(member.rank);
    }
  }
  begin_ = loop_.After(options_.wait, [this] { Begin(); });
  beat_ = loop_.Every(kTellEvery, [this] { TellProgress(); });
}

void BandwidthLead::Join(int rank, std::unique_ptr<MeshConnection> connection) {
  if (plan_ || awaited_.count(rank) == 0) {
    return;  // too late, or no member: its talk ends here
  }
  Joined& one = joined_[rank];
  one.gone = false;
  one.connection = std::move(connection);
  one.connection->Begin(
      {.frame = [this, rank](const wire::Frame& frame) { Heard(rank, frame); },
       .end = [this, rank](ConnectionEnd) { Left(rank); }});
  if (joined_.size() == awaited_.size()) {
    begin_ = loop_.After(Duration::zero(), [this] { Begin(); });
  }
}

void BandwidthLead::Begin() {
  if (plan_) {
    return;
  }
  begin_.Cancel();
  std::erase_if(joined_, [](const auto& one) { return one.second.gone; });
  for (const int rank : awaited_) {
    if (joined_.count(rank) == 0) {
      outcome_.absent.push_back(rank);
    }
  }
  if (joined_.empty()) {
    options_.over(Error(Cause::kDeadlineExceeded,
                        "no other member joined the measurement within " +
                            muster::ToString(options_.wait)));
    return;
  }
  for (const int rank : RanksOfHosts(*options_.cluster)) {
    if (rank == 0 || joined_.count(rank) > 0) {
      outcome_.hosts.push_back(rank);
    }
  }
  const std::size_t hosts = outcome_.hosts.size();
  outcome_.possible = hosts * (hosts - 1) / 2;
  std::vector<RankPair> pairs;
  for (const auto& round : Tournament(outcome_.hosts)) {
    pairs.insert(pairs.end(), round.begin(), round.end());
  }
  Plan(std::move(pairs));
}

void BandwidthLead::Plan(std::vector<RankPair> pairs) {
  ++pass_;
  planned_ += pairs.size();
  plan_.emplace(std::move(pairs));
  TellProgress();
  Go();
}

void BandwidthLead::Go() {
  if (finished_) {
    return;
  }
  for (const RankPair& pair : plan_->Next()) {
    Order(pair);
  }
  if (plan_->Over()) {
    // Not below what ended the last of them.
    next_ = loop_.After(Duration::zero(), [this] { NextPass(); });
  }
}

void BandwidthLead::Order(const RankPair& pair) {
  late_[pair] = loop_.After(options_.bounds.late + kReport, [this, pair] {
    Took(Unmeasured(pair, "rank " + std::to_string(pair.first) +
                              " did not report its measurements"));
  });
  if (pair.first == 0) {
    options_.measure(pair.second);
    return;
  }
  joined_.at(pair.first)
      .connection->Send({.kind = wire::FrameKind::kMeasure,
                         .body = std::to_string(pair.second)});
}

void BandwidthLead::Heard(int rank, const wire::Frame& frame) {
  if (frame.kind == wire::FrameKind::kDone) {
    Left(rank);
    return;
  }
  if (frame.kind != wire::FrameKind::kMeasured) {
    return;
  }
  const auto link = LinkBandwidthFromJson(JsonOfFrame(frame.body));
  if (link && link->a == rank) {
    Took(*link);
  }
}

void BandwidthLead::Measured(const LinkBandwidth& link) {
  Took(link);
}

void BandwidthLead::Left(int rank) {
  joined_.at(rank).gone = true;
  if (finished_) {
    EndIfAllLeft();
    return;
  }
  if (!plan_) {
    joined_.at(rank).connection.reset();
    return;
  }
  const std::size_t dropped = plan_->Drop(rank);
  planned_ -= std::min(planned_, dropped);
  const auto running = plan_->running();
  for (const RankPair& pair : running) {
    if (pair.first == rank || pair.second == rank) {
      Took(Unmeasured(pair, "rank " + std::to_string(rank) + " left"));
    }
  }
  Go();
}

void BandwidthLead::Took(const LinkBandwidth& link) {
  const RankPair pair{link.a, link.b};
  if (!plan_ || plan_->running().count(pair) == 0) {
    return;
  }
  plan_->Ended(pair);
  late_.erase(pair);
  const auto [at, first] = links_.try_emplace(pair, link);
  if (!first) {
    at->second = Better(at->second, link);
  }
  ++ended_;
  options_.say(std::to_string(ended_) + " of " +
               Count(static_cast<std::int64_t>(planned_), "link"));
  Go();
}

void BandwidthLead::NextPass() {
  if (finished_ || !plan_->Over()) {
    return;
  }
  outcome_.links.clear();
  for (const auto& [pair, link] : links_) {
    outcome_.links.push_back(link);
  }
  auto again = pass_ < kBandwidthPasses ? LinksToRepeat(outcome_)
                                        : std::vector<RankPair>();
  std::erase_if(again, [&](const RankPair& pair) {
    const auto gone = [&](int rank) {
      return rank != 0 && joined_.at(rank).gone;
    };
    return gone(pair.first) || gone(pair.second);
  });
  if (again.empty()) {
    Finish();
  } else {
    Plan(std::move(again));
  }
}

void BandwidthLead::Tell(const wire::Frame& frame) {
  for (auto& [rank, one] : joined_) {
    if (!one.gone) {
      one.connection->Send(frame);
    }
  }
}

void BandwidthLead::TellProgress() {
  if (!finished_) {
    Tell({.kind = wire::FrameKind::kProgress,
          .body = Dump(Json{{"ended", ended_}, {"planned", planned_}})});
  }
}

void BandwidthLead::Finish() {
  finished_ = true;
  Tell({.kind = wire::FrameKind::kSpeeds, .body = Dump(ToJson(outcome_))});
  end_ = loop_.After(kFarewell, [this] { options_.over(outcome_); });
  EndIfAllLeft();
}

void BandwidthLead::EndIfAllLeft() {
  if (std::all_of(joined_.begin(), joined_.end(),
                  [](const auto& one) { return one.second.gone; })) {
    end_ = loop_.After(Duration::zero(), [this] { options_.over(outcome_); });
  }
}

}  // namespace muster::netcheck

// SPDX-License-Identifier: Apache-2.0
// Rank 0 while links are measured: waits for all members, says who measures
// what, and tells everybody the result.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "muster/cluster.h"
#include "netcheck/bandwidth/bandwidth.h"
#include "netcheck/bandwidth/bandwidth_plan.h"
#include "netcheck/mesh/connection.h"
#include "sys/time/loop.h"

namespace muster::netcheck {

// Links that look slow or late are measured again, with fewer others beside
// them (kBandwidthPasses); the best of the passes counts. Loop thread only.
class BandwidthLead {
 public:
  struct Options {
    const Cluster* cluster = nullptr;  // outlives it
    Duration wait{};                   // for members to join
    BandwidthBounds bounds;
    // Rank 0 is to measure its link to another.
    std::function<void(int other)> measure;
    std::function<void(const std::string&)> say;
    // deadline-exceeded: nobody joined.
    std::function<void(Result<BandwidthOutcome>)> over;
  };
  BandwidthLead(sys::Loop& loop, Options options);
  BandwidthLead(const BandwidthLead&) = delete;
  BandwidthLead& operator=(const BandwidthLead&) = delete;

  // A member that said kJoin.
  void Join(int rank, std::unique_ptr<MeshConnection> connection);
  // By rank 0 itself.
  void Measured(const LinkBandwidth& link);

 private:
  struct Joined {
    std::unique_ptr<MeshConnection> connection;
    bool gone = false;  // it left, or has all that it needs
  };

  void Heard(int rank, const wire::Frame& frame);
  void Left(int rank);
  void Begin();
  void Plan(std::vector<RankPair> pairs);
  void Go();
  void Order(const RankPair& pair);
  void Took(const LinkBandwidth& link);
  void NextPass();
  void Tell(const wire::Frame& frame);
  void TellProgress();
  void Finish();
  void EndIfAllLeft();

  sys::Loop& loop_;
  Options options_;
  std::set<int> awaited_;
  std::map<int, Joined> joined_;
  std::optional<BandwidthPlan> plan_;
  std::map<RankPair, LinkBandwidth> links_;
  std::map<RankPair, sys::Loop::Handle> late_;
  BandwidthOutcome outcome_;
  std::size_t planned_ = 0;
  std::size_t ended_ = 0;
  int pass_ = 0;
  bool finished_ = false;
  sys::Loop::Handle begin_;
  sys::Loop::Handle beat_;
  sys::Loop::Handle next_;
  sys::Loop::Handle end_;
};

}  // namespace muster::netcheck

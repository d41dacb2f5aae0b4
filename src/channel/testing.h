// SPDX-License-Identifier: Apache-2.0
// What the tests of this module share: a cluster, its hellos, a loop to run.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "cluster/members.h"
#include "muster/cluster.h"
#include "muster/deadline.h"
#include "sys/time/loop.h"
#include "wire/hello.h"

namespace muster::channel::testing {

// Workers at 127.0.0.1, rank r on port first_port + r.
inline Cluster Workers(int count, int first_port = 4000) {
  Cluster cluster;
  for (int rank = 0; rank < count; ++rank) {
    Member member{.rank = rank, .task = "worker", .index = rank};
    member.address = {
        Address{"127.0.0.1", static_cast<std::uint16_t>(first_port + rank)},
        "test"};
    cluster.members.push_back(member);
  }
  cluster.size = {count, "test"};
  cluster.coordinator = cluster.members.front().address;
  return cluster;
}

// The hello of the agent of one rank: host "h<rank>", pid 100 + rank.
inline wire::Hello HelloOf(const Cluster& cluster, int rank, int attempt = 1) {
  wire::Hello hello;
  hello.version = "0.1.0";
  hello.cluster_key = ClusterKey(cluster);
  for (const Member& member : cluster.members) {
    hello.members.push_back(Place(member));
  }
  hello.ranks = {rank};
  hello.host = "h" + std::to_string(rank);
  hello.pid = 100 + rank;
  hello.attempt = attempt;
  hello.program = "train";
  hello.program_digest = "p";
  hello.environment_digest = "e";
  return hello;
}

// Dispatches until `done` holds; false after the limit.
inline bool RunUntil(sys::Loop& loop, const std::function<bool()>& done,
                     Duration limit = std::chrono::seconds(5)) {
  bool late = false;
  auto limit_timer = loop.After(limit, [&] {
    late = true;
    loop.Quit();
  });
  auto look = loop.Every(std::chrono::milliseconds(1), [&] {
    if (done()) {
      loop.Quit();
    }
  });
  while (!done() && !late) {
    loop.Run();
  }
  return done();
}

}  // namespace muster::channel::testing

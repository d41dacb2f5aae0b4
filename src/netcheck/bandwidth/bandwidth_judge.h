// SPDX-License-Identifier: Apache-2.0
// Which links are slow, measured against each other. Pure.
//
// The yardstick is the median: of all directions for bandwidth, of all links
// for round trips. Of three hosts one slow host slows most links, so there the
// second best direction and the best link stand for it; of two hosts one
// direction is measured against the other. A direction is slow below half of
// the yardstick (a quarter among two or three hosts, where so few values are as
// scattered as busy cores make them), a link late above four times it
// and 1 ms more, by its pings and by the kernels' own least round trip, where
// they tell it: a process that waits for a core is no slow link. A direction is
// lossy, and told as a slow one, where more than one segment in 20 has to be
// sent again, and five times as many as is usual.
//
// A direction is not judged where its ends waited for a core for so much of the
// time, or had one all the time, that the link may carry enough: then the cores
// are named, as possible, and not the link.
//
// All slow directions are explained by few faults (mesh_faults.h). Only what
// was measured kBandwidthPasses times counts as slow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "finding/finding.h"
#include "muster/cluster.h"
#include "netcheck/bandwidth/bandwidth.h"
#include "netcheck/bandwidth/bandwidth_plan.h"

namespace muster::netcheck {

// Links that look slow or late, the worst first, at most four of each host.
std::vector<RankPair> LinksToRepeat(const BandwidthOutcome& outcome);

// The time of one all-reduce over a ring of the hosts in the order of their
// ranks, from the slowest step: each of n hosts sends 2 (n - 1) pieces of S / n
// bytes to the next, so
//
//   t = 2 (n - 1) / n * S / B + 2 (n - 1) * L
//
// with the least bandwidth B of the ring's directions and the longest one-way
// time L, half of a p50. It is the least traffic that an all-reduce needs
// (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", 2009), and the definition behind the bus bandwidth of
// nccl-tests (doc/PERFORMANCE.md). Over one TCP connection a link; sums take
// no time.
struct RingEstimate {
  Duration time{};
  double bytes_per_second = 0;  // B
  RankPair slowest;             // from, to
  int hosts = 0;
};
// nullopt: a link of the ring was not measured.
std::optional<RingEstimate> EstimateRing(const BandwidthOutcome& outcome,
                                         std::uint64_t bytes);

struct BandwidthFindings {
  std::vector<Finding> findings;
  std::string detail;              // "28 links, 9.4 Gbit/s, 0.08 ms"
  std::vector<std::string> lines;  // bandwidth by from and to, and the estimate
};
BandwidthFindings JudgeBandwidths(const Cluster& cluster,
                                  const BandwidthOutcome& outcome,
                                  std::uint64_t gradient_bytes, WallTime at);

// "9.4 Gbit/s", "20 Mbit/s".
std::string RateText(double bytes_per_second);

}  // namespace muster::netcheck

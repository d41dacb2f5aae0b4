// SPDX-License-Identifier: Apache-2.0
// How fast links are: what was measured of each, as values, and their JSON.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::netcheck {

// How long, and how much, one pass over a link may take. Three passes stay
// within 2 s and 1 GiB.
struct BandwidthBounds {
  Duration pings = std::chrono::milliseconds(150);
  int most_pings = 200;
  Duration pour = std::chrono::milliseconds(250);  // each way
  std::uint64_t most = 160ULL << 20;               // bytes each way
  // More than all of it together: then somebody does not answer any more.
  Duration late = std::chrono::seconds(4);
};
// Passes over a link that looks slow; over any other it is one.
inline constexpr int kBandwidthPasses = 3;

// Of the time; the rest is what a thread is woken for.
inline constexpr double kWholeCore = 0.9;

// Of the time of a stream, what the thread at an end spent on a core and
// waiting for one, 0 to 1. The rest it slept: there was nothing to do for it.
struct CoreShare {
  double ran = 0;
  double queued = 0;

  // Nothing is left: who had more of a core did more.
  bool Whole() const { return ran + queued > kWholeCore; }
  bool operator==(const CoreShare&) const = default;
};

// One way of a link, as its receiver counted it: without the first fifth of the
// time, in which TCP has not found its pace.
struct ByteStream {
  std::uint64_t bytes = 0;
  Duration took{};
  std::uint32_t sent_again = 0;  // segments, TCP_INFO of the sender
  std::uint32_t segments = 0;  // all that it sent; 0: the kernel does not tell
  CoreShare sender, receiver;

  double BytesPerSecond() const;
  // Whether an end did nothing else all the time.
  bool TookAWholeCore() const { return sender.Whole() || receiver.Whole(); }
  // What the link may carry at most, as far as this stream tells: it may have
  // been idle whenever an end waited for a core.
  double MostBytesPerSecond() const;
  double ShareSentAgain() const;  // of the segments, 0 to 1
  bool operator==(const ByteStream&) const = default;
};

// A link between two hosts, by the ranks that stand for them; a < b.
struct LinkBandwidth {
  int a = 0, b = 0;
  int pings = 0;
  Duration p50{}, p99{};   // round trips of a small frame, on an idle link
  Duration least{};        // between the kernels; 0: they do not tell
  ByteStream there, back;  // a to b, b to a
  int passes = 0;
  std::string stopped;  // why it was not measured to its end; empty: it was

  const ByteStream& From(int rank) const { return rank == a ? there : back; }
  bool operator==(const LinkBandwidth&) const = default;
};
// Of two passes over one link the better of everything: what disturbed one of
// them is no property of the link.
LinkBandwidth Better(const LinkBandwidth& one, const LinkBandwidth& other);

// All that is known at the end.
struct BandwidthOutcome {
  std::vector<LinkBandwidth> links;
  std::vector<int> hosts;    // ranks that stand for a host, and took part
  std::vector<int> absent;   // members that did not take part
  std::size_t possible = 0;  // links between the hosts
};

Json ToJson(const ByteStream& stream);
Json ToJson(const LinkBandwidth& link);
Json ToJson(const BandwidthOutcome& outcome);
// From bytes of a peer: net-wrong-endpoint names the field that is wrong.
Result<ByteStream> StreamFromJson(const Json& json);
Result<LinkBandwidth> LinkBandwidthFromJson(const Json& json);
Result<BandwidthOutcome> BandwidthOutcomeFromJson(const Json& json);
// Takes out what is said of ranks that a list of `size` members does not have.
void KeepRanksBelow(int size, BandwidthOutcome& outcome);

}  // namespace muster::netcheck

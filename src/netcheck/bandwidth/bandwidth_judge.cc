// SPDX-License-Identifier: Apache-2.0
#include "netcheck/bandwidth/bandwidth_judge.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <tuple>

#include "base/text.h"
#include "netcheck/diagnosis/diagnosis_context.h"

namespace muster::netcheck {
namespace {

constexpr double kSlow = 0.5;
constexpr double kSlowOfFew = 0.25;
constexpr std::size_t kFewHosts = 3;
constexpr double kLossy = 0.05;
constexpr double kLossier = 5;
constexpr std::uint32_t kFewestSegments = 100;
constexpr int kLate = 4;
constexpr std::chrono::milliseconds kLateByPings{1};
constexpr std::chrono::microseconds kLateByKernel{500};
constexpr int kMaxAgainOfAHost = 4;
constexpr std::size_t kMaxHostColumns = 8;
constexpr std::size_t kRateWidth = 8;
// Of the known directions of a host: then it is the host.
constexpr double kMaxOfAHost = 0.75;
constexpr std::size_t kFewestOfAHost = 3;
// Of the time: then who measured a link to no end had no core for it.
constexpr double kStarvedShare = 0.5;

// What the links are measured against.
struct Yardstick {
  double rate = 0;        // bytes a second
  double slow = 0;        // below it, a direction is slow
  double sent_again = 0;  // share
  Duration p50{};
  Duration least{};
  std::size_t links = 0;
};

template <typename T>
T Nth(std::vector<T> values, std::size_t n) {
  std::sort(values.begin(), values.end());
  return values.empty() ? T{} : values[std::min(n, values.size() - 1)];
}

Yardstick YardstickOf(const BandwidthOutcome& outcome) {
  std::vector<double> rates, again;
  std::vector<Duration> p50s, leasts;
  for (const LinkBandwidth& link : outcome.links) {
    if (!link.stopped.empty()) {
      continue;
    }
    rates.push_back(link.there.BytesPerSecond());
    rates.push_back(link.back.BytesPerSecond());
    again.push_back(link.there.ShareSentAgain());
    again.push_back(link.back.ShareSentAgain());
    p50s.push_back(link.p50);
    if (link.least > Duration::zero()) {
      leasts.push_back(link.least);
    }
  }
  const bool three = outcome.hosts.size() == 3;
  Yardstick yardstick{.links = p50s.size()};
  yardstick.rate = Nth(
      rates, three && rates.size() > 1 ? rates.size() - 2 : rates.size() / 2);
  yardstick.slow =
      yardstick.rate * (outcome.hosts.size() <= kFewHosts ? kSlowOfFew : kSlow);
  yardstick.sent_again = Nth(again, again.size() / 2);
  const auto low = [&](const std::vector<Duration>& times) {
    return Nth(times, three || times.empty() ? 0 : (times.size() - 1) / 2);
  };
  yardstick.p50 = low(p50s);
  yardstick.least = low(leasts);
  return yardstick;
}

bool IsLossy(const Yardstick& yardstick, const ByteStream& stream) {
  const double share = stream.ShareSentAgain();
  return stream.segments >= kFewestSegments && share > kLossy &&
         share > kLossier * yardstick.sent_again;
}

bool IsSlow(const Yardstick& yardstick, const LinkBandwidth& link, int from) {
  return !link.stopped.empty() ||
         link.From(from).BytesPerSecond() < yardstick.slow ||
         IsLossy(yardstick, link.From(from));
}

// Whether a direction that is slow may be so for want of a core.
bool MayBeTheCores(const Yardstick& yardstick, const LinkBandwidth& link,
                   int from) {
  const ByteStream& stream = link.From(from);
  if (!link.stopped.empty()) {
    return std::max(stream.sender.queued, stream.receiver.queued) >
           kStarvedShare;
  }
  return !IsLossy(yardstick, stream) &&
         stream.MostBytesPerSecond() >= yardstick.slow;
}

bool IsLate(const Yardstick& yardstick, const LinkBandwidth& link) {
  const auto beyond = [](Duration value, Duration other, Duration by) {
    return value > kLate * other && value > other + by;
  };
  const bool kernel_tells =
      link.least > Duration::zero() && yardstick.least > Duration::zero();
  return link.pings > 0 && yardstick.links > 1 &&
         beyond(link.p50, yardstick.p50, kLateByPings) &&
         (!kernel_tells || beyond(link.least, yardstick.least, kLateByKernel));
}

std::string Number(double value, int decimals) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string Percent(double share) {
  return Number(share * 100, share >= 0.1 ? 0 : 1) + " %";
}

std::string CoreText(const CoreShare& share) {
  return "its thread ran " + Percent(share.ran) +
         " of the time and waited for a core " + Percent(share.queued);
}

// Everything that the judgement looks at.
class Judgement {
 public:
  Judgement(const Cluster& cluster, const BandwidthOutcome& outcome,
            WallTime at)
      : outcome_(outcome),
        yardstick_(YardstickOf(outcome)),
        case_{.cluster = cluster, .rows = no_rows_, .at = at, .findings = {}} {
    for (const LinkBandwidth& link : outcome.links) {
      links_[{link.a, link.b}] = &link;
    }
  }

  std::vector<Finding> Run() {
    const auto late = FindFaults(ViewOf(Trouble::kLate));
    const auto slow = FindFaults(ViewOf(Trouble::kSlow));
    for (const MeshFault& fault : slow) {
      // One root a finding: a link whose packets take longer carries less.
      const auto same = std::find_if(
          late.begin(), late.end(),
          [&](const MeshFault& other) { return other.named == fault.named; });
      Tell(fault, same != late.end());
    }
    for (const MeshFault& fault : late) {
      if (std::none_of(slow.begin(), slow.end(), [&](const MeshFault& other) {
            return other.named == fault.named;
          })) {
        Tell(fault, true);
      }
    }
    TellOfCores();
    return std::move(case_.findings);
  }

 private:
  const LinkBandwidth* Find(int from, int to) const {
    const auto at = links_.find({std::min(from, to), std::max(from, to)});
    return at == links_.end() ? nullptr : at->second;
  }

  MeshView ViewOf(Trouble trouble) const {
    MeshView view;
    for (const Member& member : case_.cluster.members) {
      view.hosts.push_back(member.address ? member.address->value.host
                                          : std::to_string(member.rank));
    }
    for (const int rank : outcome_.hosts) {
      view.present.insert(rank);
      view.targets.push_back({.rank = rank});
    }
    for (const LinkBandwidth& link : outcome_.links) {
      for (const auto& [from, to] :
           {RankPair{link.a, link.b}, RankPair{link.b, link.a}}) {
        const bool bad = trouble == Trouble::kLate
                             ? IsLate(yardstick_, link)
                             : IsSlow(yardstick_, link, from);
        // What looks bad and was not measured again is not known.
        const bool known = !bad || (link.passes >= kBandwidthPasses &&
                                    (trouble == Trouble::kLate ||
                                     !MayBeTheCores(yardstick_, link, from)));
        if (known) {
          view.paths[{from, {.rank = to}}] = bad ? trouble : Trouble::kNone;
        }
      }
    }
    CompleteHosts(view, trouble);
    return view;
  }

  // Where most directions of a host are bad, all are: some of them are just on
  // the good side of the limit.
  void CompleteHosts(MeshView& view, Trouble trouble) const {
    const auto all = view.paths;
    for (const int rank : outcome_.hosts) {
      for (const bool out : {true, false}) {
        std::vector<std::pair<int, MeshTarget>> mine;
        std::size_t bad = 0;
        for (const auto& [at, here] : all) {
          if ((out ? at.first : at.second.rank) == rank) {
            mine.push_back(at);
            bad += here == trouble ? 1U : 0U;
          }
        }
        Complete(view, trouble, mine, bad);
      }
    }
  }
  static void Complete(MeshView& view, Trouble trouble,
                       const std::vector<std::pair<int, MeshTarget>>& mine,
                       std::size_t bad) {
    if (mine.size() < kFewestOfAHost ||
        static_cast<double>(bad) <
            kMaxOfAHost * static_cast<double>(mine.size())) {
      return;
    }
    for (const auto& at : mine) {
      view.paths[at] = trouble;
    }
  }

  // Of the links that were measured to their end.
  double TypicalRate(const MeshFault& fault) const {
    std::vector<double> rates;
    for (const auto& [from, to] : fault.paths) {
      const LinkBandwidth* link = Find(from, to.rank);
      if (link != nullptr && link->stopped.empty()) {
        rates.push_back(link->From(from).BytesPerSecond());
      }
    }
    return Nth(rates, rates.size() / 2);
  }
  // "; 13 % of its segments are sent again, elsewhere 0.1 %", where it is so.
  std::string LossOf(const MeshFault& fault) const {
    std::vector<double> shares;
    for (const auto& [from, to] : fault.paths) {
      const LinkBandwidth* link = Find(from, to.rank);
      if (link != nullptr && IsLossy(yardstick_, link->From(from))) {
        shares.push_back(link->From(from).ShareSentAgain());
      }
    }
    return shares.empty()
               ? ""
               : "; " + Percent(Nth(shares, shares.size() / 2)) +
                     " of its segments are retransmitted, elsewhere " +
                     Percent(yardstick_.sent_again);
  }
  Duration TypicalTime(const MeshFault& fault) const {
    std::vector<Duration> times;
    for (const auto& [from, to] : fault.paths) {
      if (const LinkBandwidth* link = Find(from, to.rank)) {
        times.push_back(link->p50);
      }
    }
    return Nth(times, times.size() / 2);
  }

  std::string Place(const MeshFault& fault) const {
    std::set<int> ranks;
    for (const MeshTarget& target : fault.targets) {
      ranks.insert(target.rank);
    }
    const std::string from = NamesOf(case_.cluster, fault.sources);
    const std::string to = NamesOf(case_.cluster, ranks);
    const std::string named = NamesOf(case_.cluster, fault.named);
    switch (fault.shape) {
      case FaultShape::kLink:
        return "the link between " + from + " and " + to;
      case FaultShape::kDirection:
        return "the link from " + from + " to " + to;
      case FaultShape::kIsolated:
        return "each link of " + named;
      case FaultShape::kHost:
      case FaultShape::kPort:
      case FaultShape::kAbsentHost:
        return "each link to " + named;
      case FaultShape::kOutbound:
        return "each link from " + named;
      case FaultShape::kPartition:
        return "each link between two groups (" + from + " | " + to + ")";
      default:
        return "the links from " + from + " to " + to;
    }
  }

  bool NoneMeasured(const MeshFault& fault) const {
    return std::all_of(
        fault.paths.begin(), fault.paths.end(), [&](const auto& path) {
          const LinkBandwidth* link = Find(path.first, path.second.rank);
          return link == nullptr || !link->stopped.empty();
        });
  }

  void Tell(const MeshFault& fault, bool late) {
    std::string what = Place(fault);
    const bool none = fault.trouble == Trouble::kSlow && NoneMeasured(fault);
    if (none) {
      what += " could not be measured completely";
    } else if (fault.trouble == Trouble::kSlow) {
      what += " carries " + RateText(TypicalRate(fault)) + ", the others " +
              RateText(yardstick_.rate) + LossOf(fault);
      if (late) {
        what += "; a round trip takes " + muster::ToString(TypicalTime(fault)) +
                ", elsewhere " + muster::ToString(yardstick_.p50);
      }
    } else {
      what += " takes " + muster::ToString(TypicalTime(fault)) +
              " for a round trip, the others " +
              muster::ToString(yardstick_.p50);
    }
    std::vector<Fact> facts;
    for (const auto& [from, to] : fault.paths) {
      const LinkBandwidth* link = Find(from, to.rank);
      if (link != nullptr && facts.size() < kMaxEvidence) {
        facts.push_back(Seen(case_, EvidenceOf(*link, from),
                             NameOf(case_.cluster, to.rank)));
      }
    }
    Add(case_, Cause::kNetSlowLink, what,
        none ? Confidence::kPossible : Confidence::kCertain, facts,
        fault.named);
  }

  // Directions that look slow while an end had no core for them.
  void TellOfCores() {
    std::set<int> named;
    std::vector<Fact> facts;
    std::int64_t directions = 0;
    for (const LinkBandwidth& link : outcome_.links) {
      for (const int from : {link.a, link.b}) {
        if (!IsSlow(yardstick_, link, from) ||
            !MayBeTheCores(yardstick_, link, from)) {
          continue;
        }
        ++directions;
        const ByteStream& stream = link.From(from);
        const int to = from == link.a ? link.b : link.a;
        const bool sender = stream.sender.queued >= stream.receiver.queued;
        const int busy = sender ? from : to;
        named.insert(busy);
        if (facts.size() < kMaxEvidence) {
          facts.push_back(
              Seen(case_,
                   EvidenceOf(link, from) + "; " +
                       CoreText(sender ? stream.sender : stream.receiver),
                   NameOf(case_.cluster, busy)));
        }
      }
    }
    if (named.empty()) {
      return;
    }
    Add(case_, Cause::kHostOverloaded,
        Count(directions, "direction") +
            " of links cannot be evaluated: " + NamesOf(case_.cluster, named) +
            " had no free core for the measurement, and the links may be as "
            "fast as the others",
        Confidence::kPossible, facts, named);
    Finding& finding = case_.findings.back();
    finding.severity = Severity::kNote;
    finding.fixes = {{.text = "measure again when the host has free cores",
                      .command = "muster check network.speed",
                      .safety = Safety::kSafe}};
  }

  std::string EvidenceOf(const LinkBandwidth& link, int from) const {
    if (!link.stopped.empty()) {
      return "from rank " + std::to_string(from) + ": " +
             Printable(link.stopped);
    }
    const ByteStream& stream = link.From(from);
    std::string text = "from rank " + std::to_string(from) + " come " +
                       RateText(stream.BytesPerSecond()) + ", best of " +
                       std::to_string(link.passes) + "; p50 " +
                       muster::ToString(link.p50) + ", p99 " +
                       muster::ToString(link.p99);
    if (stream.segments > 0) {
      text += "; " + std::to_string(stream.sent_again) + " of " +
              std::to_string(stream.segments) + " segments retransmitted";
    }
    return text;
  }

  const BandwidthOutcome& outcome_;
  Yardstick yardstick_;
  std::map<int, MeshRow> no_rows_;
  MeshCase case_;
  std::map<RankPair, const LinkBandwidth*> links_;
};

std::string RateCell(std::string text) {
  text.insert(0, text.size() < kRateWidth ? kRateWidth - text.size() : 1, ' ');
  return text;
}

// Bandwidth by from and to, where it fits.
std::vector<std::string> TableOf(const BandwidthOutcome& outcome,
                                 const Yardstick& yardstick) {
  if (outcome.hosts.size() > kMaxHostColumns) {
    return {};
  }
  const bool giga = yardstick.rate * 8 >= 1e9;
  std::map<RankPair, std::string> cells;
  for (const LinkBandwidth& link : outcome.links) {
    const auto cell = [&](const ByteStream& stream) {
      return link.stopped.empty()
                 ? Number(stream.BytesPerSecond() * 8 / (giga ? 1e9 : 1e6),
                          giga ? 1 : 0)
                 : "?";
    };
    cells[{link.a, link.b}] = cell(link.there);
    cells[{link.b, link.a}] = cell(link.back);
  }
  std::string head = RateCell("to");
  for (const int to : outcome.hosts) {
    head += RateCell("rank" + std::to_string(to));
  }
  std::vector<std::string> lines{head + (giga ? "   Gbit/s" : "   Mbit/s")};
  for (const int from : outcome.hosts) {
    std::string line = RateCell("rank" + std::to_string(from));
    for (const int to : outcome.hosts) {
      const auto cell = cells.find({from, to});
      line += RateCell(from == to            ? "-"
                       : cell == cells.end() ? "."
                                             : cell->second);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// Round trips and what was sent again, over all links.
std::string SummaryOf(const BandwidthOutcome& outcome) {
  std::vector<Duration> p50s, p99s;
  std::uint64_t again = 0;
  std::uint64_t segments = 0;
  for (const LinkBandwidth& link : outcome.links) {
    if (link.pings > 0) {
      p50s.push_back(link.p50);
      p99s.push_back(link.p99);
    }
    again += std::uint64_t{link.there.sent_again} + link.back.sent_again;
    segments += std::uint64_t{link.there.segments} + link.back.segments;
  }
  std::string text = "round trip: p50 " +
                     muster::ToString(Nth(p50s, p50s.size() / 2)) + ", p99 " +
                     muster::ToString(Nth(p99s, p99s.size() / 2));
  if (segments > 0) {
    text += "; retransmitted: " + std::to_string(again) + " of " +
            std::to_string(segments) + " segments";
  }
  return text;
}

// Empty: the network was the limit everywhere.
std::string CoresText(const BandwidthOutcome& outcome) {
  std::int64_t limited = 0;
  for (const LinkBandwidth& link : outcome.links) {
    for (const ByteStream* stream : {&link.there, &link.back}) {
      limited += stream->TookAWholeCore();
    }
  }
  return limited == 0 ? ""
                      : std::to_string(limited) + " of " +
                            Count(2 * std::ssize(outcome.links), "direction") +
                            " used a full core: their links may be faster";
}

std::string RingText(const BandwidthOutcome& outcome, std::uint64_t bytes) {
  const auto ring = EstimateRing(outcome, bytes);
  const std::string what =
      "all-reduce of " + Number(static_cast<double>(bytes) / 1e6, 0) +
      " MB over " +
      Count(static_cast<std::int64_t>(outcome.hosts.size()), "host");
  return ring ? what + ": about " + muster::ToString(ring->time) +
                    " as a ring, limited by link " +
                    std::to_string(ring->slowest.first) + " to " +
                    std::to_string(ring->slowest.second) + " with " +
                    RateText(ring->bytes_per_second)
              : what + ": unknown, because a link of the ring was not measured";
}

}  // namespace

std::string RateText(double bytes_per_second) {
  const double bits = bytes_per_second * 8;
  if (bits >= 1e9) {
    return Number(bits / 1e9, bits >= 1e10 ? 0 : 1) + " Gbit/s";
  }
  return Number(bits / 1e6, bits >= 1e7 ? 0 : 1) + " Mbit/s";
}

std::vector<RankPair> LinksToRepeat(const BandwidthOutcome& outcome) {
  const Yardstick yardstick = YardstickOf(outcome);
  // Those that were chosen before come first: of a host with many slow links a
  // few are measured often enough, and not all of them too seldom.
  std::vector<std::tuple<int, double, RankPair>> doubtful;
  for (const LinkBandwidth& link : outcome.links) {
    if (IsSlow(yardstick, link, link.a) || IsSlow(yardstick, link, link.b) ||
        IsLate(yardstick, link)) {
      doubtful.emplace_back(
          -link.passes,
          std::min(link.there.BytesPerSecond(), link.back.BytesPerSecond()),
          RankPair{link.a, link.b});
    }
  }
  std::sort(doubtful.begin(), doubtful.end());
  std::map<int, int> of_host;
  std::vector<RankPair> again;
  for (const auto& [passes, rate, pair] : doubtful) {
    if (of_host[pair.first] < kMaxAgainOfAHost &&
        of_host[pair.second] < kMaxAgainOfAHost) {
      ++of_host[pair.first];
      ++of_host[pair.second];
      again.push_back(pair);
    }
  }
  return again;
}

std::optional<RingEstimate> EstimateRing(const BandwidthOutcome& outcome,
                                         std::uint64_t bytes) {
  std::map<RankPair, const LinkBandwidth*> links;
  for (const LinkBandwidth& link : outcome.links) {
    links[{link.a, link.b}] = &link;
  }
  const std::size_t hosts = outcome.hosts.size();
  if (hosts < 2) {
    return std::nullopt;
  }
  RingEstimate ring{.hosts = static_cast<int>(hosts)};
  Duration longest{};
  for (std::size_t i = 0; i < hosts; ++i) {
    const int from = outcome.hosts[i];
    const int to = outcome.hosts[(i + 1) % hosts];
    const auto link = links.find({std::min(from, to), std::max(from, to)});
    const double rate = link == links.end() || !link->second->stopped.empty()
                            ? 0
                            : link->second->From(from).BytesPerSecond();
    if (rate <= 0) {
      return std::nullopt;
    }
    if (ring.bytes_per_second <= 0 || rate < ring.bytes_per_second) {
      ring.bytes_per_second = rate;
      ring.slowest = {from, to};
    }
    longest = std::max(longest, link->second->p50 / 2);
  }
  const auto n = static_cast<double>(hosts);
  const std::chrono::duration<double> carrying(
      2 * (n - 1) / n * static_cast<double>(bytes) / ring.bytes_per_second);
  ring.time = std::chrono::duration_cast<Duration>(carrying) +
              2 * (ring.hosts - 1) * longest;
  return ring;
}

BandwidthFindings JudgeBandwidths(const Cluster& cluster,
                                  const BandwidthOutcome& outcome,
                                  std::uint64_t gradient_bytes, WallTime at) {
  const Yardstick yardstick = YardstickOf(outcome);
  BandwidthFindings verdict{
      .findings = Judgement(cluster, outcome, at).Run(),
      .detail = std::to_string(yardstick.links) + " of " +
                Count(static_cast<std::int64_t>(outcome.possible), "link") +
                " measured, typically " + RateText(yardstick.rate) +
                " each way, " + muster::ToString(yardstick.p50),
      .lines = TableOf(outcome, yardstick)};
  verdict.lines.push_back(SummaryOf(outcome));
  if (std::string cores = CoresText(outcome); !cores.empty()) {
    verdict.lines.push_back(std::move(cores));
  }
  verdict.lines.push_back(RingText(outcome, gradient_bytes));
  if (!outcome.absent.empty()) {
    verdict.lines.push_back(
        "not measured, because it did not take part: " +
        NamesOf(cluster, {outcome.absent.begin(), outcome.absent.end()}));
  }
  return verdict;
}

}  // namespace muster::netcheck

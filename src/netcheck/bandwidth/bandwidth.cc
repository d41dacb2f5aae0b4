// SPDX-License-Identifier: Apache-2.0
#include "netcheck/bandwidth/bandwidth.h"

#include <algorithm>
#include <cmath>

#include "netcheck/mesh/peer_json.h"

namespace muster::netcheck {
namespace {

constexpr std::int64_t kMaxCount = 1LL << 50;
constexpr double kLeastShare = 0.001;
constexpr int kMillion = 1'000'000;

std::int64_t JsonMicros(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration)
      .count();
}

Json ToJson(const CoreShare& share) {
  return {{"ran_ppm", std::lround(share.ran * kMillion)},
          {"queued_ppm", std::lround(share.queued * kMillion)}};
}

Error Wrong(const std::string& field) {
  return Error(Cause::kNetWrongEndpoint,
               "the bandwidth result of a link has no valid `" + field + "`");
}

Result<std::vector<int>> RanksIn(PeerJson& reader, const char* name) {
  std::vector<int> ranks;
  for (const Json& one : reader.List(name)) {
    const auto rank = RankOf(one);
    if (!rank || *rank < 0) {
      return Wrong(name);
    }
    ranks.push_back(*rank);
  }
  return ranks;
}

Result<CoreShare> CoreShareIn(const Json& json, const char* name) {
  const auto at = json.find(name);
  if (at == json.end()) {
    return CoreShare{};
  }
  PeerJson reader(*at);
  const auto share = [&](const char* field) {
    return static_cast<double>(reader.Number(field, {0, kMillion})) / kMillion;
  };
  const CoreShare found{.ran = share("ran_ppm"), .queued = share("queued_ppm")};
  return reader.wrong().empty() ? Result<CoreShare>(found) : Wrong(name);
}

Result<ByteStream> StreamIn(const Json& json, const char* name) {
  const auto at = json.find(name);
  return at == json.end() ? Result<ByteStream>(ByteStream{})
                          : StreamFromJson(*at);
}

}  // namespace

double ByteStream::BytesPerSecond() const {
  const double seconds = std::chrono::duration<double>(took).count();
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

double ByteStream::MostBytesPerSecond() const {
  const double free =
      TookAWholeCore() ? 0 : 1 - sender.queued - receiver.queued;
  return BytesPerSecond() / std::max(free, kLeastShare);
}

double ByteStream::ShareSentAgain() const {
  return segments == 0
             ? 0
             : static_cast<double>(sent_again) / static_cast<double>(segments);
}

LinkBandwidth Better(const LinkBandwidth& one, const LinkBandwidth& other) {
  const auto faster = [](const ByteStream& a, const ByteStream& b) {
    return a.BytesPerSecond() >= b.BytesPerSecond() ? a : b;
  };
  const bool first = one.pings > 0 && (other.pings == 0 || one.p50 < other.p50);
  LinkBandwidth better = first ? one : other;
  if (one.least > Duration::zero() && other.least > Duration::zero()) {
    better.least = std::min(one.least, other.least);
  }
  better.there = faster(one.there, other.there);
  better.back = faster(one.back, other.back);
  better.stopped = one.stopped.empty() ? one.stopped : other.stopped;
  better.passes = one.passes + other.passes;
  return better;
}

Json ToJson(const ByteStream& stream) {
  return {
      {"bytes", stream.bytes},           {"us", JsonMicros(stream.took)},
      {"sent_again", stream.sent_again}, {"segments", stream.segments},
      {"sender", ToJson(stream.sender)}, {"receiver", ToJson(stream.receiver)}};
}

Json ToJson(const LinkBandwidth& link) {
  return {{"a", link.a},
          {"b", link.b},
          {"pings", link.pings},
          {"p50_us", JsonMicros(link.p50)},
          {"p99_us", JsonMicros(link.p99)},
          {"least_us", JsonMicros(link.least)},
          {"there", ToJson(link.there)},
          {"back", ToJson(link.back)},
          {"passes", link.passes},
          {"stopped", link.stopped}};
}

Json ToJson(const BandwidthOutcome& outcome) {
  Json links = Json::array();
  for (const LinkBandwidth& link : outcome.links) {
    links.push_back(ToJson(link));
  }
  return {{"links", std::move(links)},
          {"hosts", outcome.hosts},
          {"absent", outcome.absent},
          {"possible", outcome.possible}};
}

Result<ByteStream> StreamFromJson(const Json& json) {
  PeerJson reader(json);
  const auto count = [&](const char* name) {
    return static_cast<std::uint32_t>(reader.Number(name, {0, UINT32_MAX}));
  };
  ByteStream stream{.bytes = static_cast<std::uint64_t>(
                        reader.Number("bytes", {0, kMaxCount})),
                    .took = reader.Time("us"),
                    .sent_again = count("sent_again"),
                    .segments = count("segments")};
  if (!reader.wrong().empty()) {
    return Wrong(reader.wrong());
  }
  MUSTER_ASSIGN(stream.sender, CoreShareIn(json, "sender"));
  MUSTER_ASSIGN(stream.receiver, CoreShareIn(json, "receiver"));
  return stream;
}

Result<LinkBandwidth> LinkBandwidthFromJson(const Json& json) {
  PeerJson reader(json);
  LinkBandwidth link{.a = reader.Rank("a", -1),
                     .b = reader.Rank("b", -1),
                     .pings = reader.Rank("pings"),
                     .p50 = reader.Time("p50_us"),
                     .p99 = reader.Time("p99_us"),
                     .least = reader.Time("least_us"),
                     .passes = reader.Rank("passes"),
                     .stopped = reader.Text("stopped")};
  if (!reader.wrong().empty() || link.a < 0 || link.b < 0) {
    return Wrong(reader.wrong().empty() ? "a" : reader.wrong());
  }
  MUSTER_ASSIGN(link.there, StreamIn(json, "there"));
  MUSTER_ASSIGN(link.back, StreamIn(json, "back"));
  return link;
}

Result<BandwidthOutcome> BandwidthOutcomeFromJson(const Json& json) {
  PeerJson reader(json);
  BandwidthOutcome outcome{.possible = static_cast<std::size_t>(
                               reader.Number("possible", {0, kMaxCount}))};
  for (const Json& one : reader.List("links")) {
    MUSTER_ASSIGN(LinkBandwidth link, LinkBandwidthFromJson(one));
    outcome.links.push_back(std::move(link));
  }
  MUSTER_ASSIGN(outcome.hosts, RanksIn(reader, "hosts"));
  MUSTER_ASSIGN(outcome.absent, RanksIn(reader, "absent"));
  if (!reader.wrong().empty()) {
    return Wrong(reader.wrong());
  }
  return outcome;
}

void KeepRanksBelow(int size, BandwidthOutcome& outcome) {
  const auto foreign = [size](int rank) { return rank >= size; };
  std::erase_if(outcome.links, [&](const LinkBandwidth& link) {
    return foreign(link.a) || foreign(link.b);
  });
  std::erase_if(outcome.hosts, foreign);
  std::erase_if(outcome.absent, foreign);
}

}  // namespace muster::netcheck

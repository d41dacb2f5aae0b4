// SPDX-License-Identifier: Apache-2.0
#include "netcheck/bandwidth/bandwidth_meter.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "netcheck/mesh/peer_json.h"

namespace muster::netcheck {
namespace {

// Chunks double until one takes kShortChunk to queue: between two the sender
// can stop, so that a slow link does not keep it.
constexpr std::size_t kFirstChunk = 64U << 10;
constexpr std::size_t kMaxChunk = 1U << 20;
constexpr std::chrono::milliseconds kShortChunk{5};
// Kept in the socket: more would be measured as sent while it waits here.
constexpr int kMaxUnsent = 256 << 10;
// The receiver notes what has come this often, and needs so many notes before
// it leaves out the start.
constexpr std::chrono::milliseconds kSample{1};
constexpr std::size_t kFewestSamples = 5;
constexpr std::size_t kFewestPings = 5;
// What a peer may ask for at most.
constexpr std::chrono::seconds kMaxPour{2};
constexpr std::uint64_t kMaxPoured = 1ULL << 30;

// The length that a kChunk tells; 0: none that is taken.
std::uint64_t LengthOf(const wire::Frame& frame) {
  const auto length = ParseInt(frame.body);
  return length && *length > 0 &&
                 *length <= static_cast<std::int64_t>(kMaxChunk)
             ? static_cast<std::uint64_t>(*length)
             : 0;
}

double ShareOf(Duration part, Duration all) {
  return all <= Duration::zero()
             ? 0
             : std::clamp(static_cast<double>(part.count()) /
                              static_cast<double>(all.count()),
                          0.0, 1.0);
}

// What the other end says; nothing, where that cannot be read.
ByteStream StreamIn(const wire::Frame& frame) {
  return StreamFromJson(JsonOfFrame(frame.body)).value_or(ByteStream{});
}

// What the receiver knows of a stream, and what its sender does.
ByteStream Joined(const ByteStream& counted, const ByteStream& sent) {
  ByteStream both = counted;
  both.sent_again = sent.sent_again;
  both.segments = sent.segments;
  both.sender = sent.sender;
  return both;
}

Duration PercentileOf(const std::vector<Duration>& sorted,
                      std::size_t percent) {
  return sorted[std::min(sorted.size() - 1, sorted.size() * percent / 100)];
}

}  // namespace

CoreWatch::CoreWatch(const sys::Clock& clock)
    : clock_(&clock), began_(clock.Now()), before_(sys::OwnCoreTime()) {}

CoreShare CoreWatch::Share() const {
  const Duration all = clock_->Now() - began_;
  const sys::CoreTime now = sys::OwnCoreTime();
  return {.ran = ShareOf(now.ran - before_.ran, all),
          .queued = ShareOf(now.queued - before_.queued, all)};
}

StreamSender::StreamSender(const sys::Clock& clock, MeshConnection& connection,
                           Until until)
    : clock_(clock),
      connection_(connection),
      until_(until),
      began_(clock.Now()),
      chunk_began_(began_),
      chunk_(kFirstChunk),
      before_(sys::StateOf(connection.fd()).value_or(sys::TcpState{})),
      core_(clock) {
  sys::KeepUnsentBelow(connection.fd(), kMaxUnsent);
  More();
}

void StreamSender::More() {
  const auto now = clock_.Now();
  if (now - began_ >= until_.pour || sent_ >= until_.most) {
    connection_.Send(
        {.kind = wire::FrameKind::kPoured, .body = Dump(ToJson(State()))});
    return;
  }
  if (sent_ > 0 && now - chunk_began_ < kShortChunk) {
    chunk_ = std::min(2 * chunk_, kMaxChunk);
  }
  chunk_began_ = now;
  sent_ += chunk_;
  connection_.Send(
      {.kind = wire::FrameKind::kChunk, .body = std::to_string(chunk_)});
  connection_.Pour(chunk_);
}

ByteStream StreamSender::State() const {
  const auto state = sys::StateOf(connection_.fd()).value_or(before_);
  return {.sent_again = state.sent_again - before_.sent_again,
          .segments = state.sent - before_.sent,
          .sender = core_.Share()};
}

void StreamCounter::Count(sys::Clock::Steady now, std::uint64_t bytes) {
  if (bytes_ == 0) {
    first_ = now;
  }
  bytes_ += bytes;
  const Duration after = now - first_;
  if (samples_.empty() || after - samples_.back().first >= kSample) {
    samples_.emplace_back(after, bytes_);
  }
}

ByteStream StreamCounter::Steady(sys::Clock::Steady now) const {
  if (bytes_ == 0) {
    return {};
  }
  const Duration all = now - first_;
  // What had come when a fifth of the time was over: a stop right there counts.
  const auto later =
      std::find_if(samples_.begin(), samples_.end(),
                   [&](const auto& sample) { return sample.first > all / 5; });
  if (later == samples_.begin() || samples_.size() < kFewestSamples) {
    return {.bytes = bytes_, .took = all};
  }
  return {.bytes = bytes_ - std::prev(later)->second, .took = all - all / 5};
}

BandwidthMeter::BandwidthMeter(sys::Loop& loop, const sys::Clock& clock,
                               std::unique_ptr<MeshConnection> connection,
                               const BandwidthBounds& bounds,
                               std::function<void(LinkBandwidth)> done)
    : loop_(loop),
      clock_(clock),
      connection_(std::move(connection)),
      bounds_(bounds),
      done_(std::move(done)),
      began_(clock.Now()),
      core_(clock) {
  connection_->Begin(
      {.frame = [this](const wire::Frame& frame) { Heard(frame); },
       .end =
           [this](ConnectionEnd) {
             Done("the peer disconnected during the measurement");
           },
       .drained = [this] { sender_->More(); },
       .skipped =
           [this](std::uint64_t bytes) {
             counter_.Count(clock_.Now(), bytes);
           }});
  timer_ = loop_.After(bounds_.late, [this] {
    Done("not finished within " + muster::ToString(bounds_.late));
  });
  Ping();
}

void BandwidthMeter::Ping() {
  pinged_ = clock_.Now();
  connection_->Send({.kind = wire::FrameKind::kPing});
}

void BandwidthMeter::Ponged() {
  const auto now = clock_.Now();
  pings_.push_back(now - pinged_);
  if (pings_.size() < kFewestPings ||
      (now - began_ < bounds_.pings &&
       pings_.size() < static_cast<std::size_t>(bounds_.most_pings))) {
    Ping();
    return;
  }
  stage_ = Stage::kPouring;
  sender_ = std::make_unique<StreamSender>(
      clock_, *connection_,
      StreamSender::Until{.pour = bounds_.pour, .most = bounds_.most});
}

void BandwidthMeter::Heard(const wire::Frame& frame) {
  if (frame.kind == wire::FrameKind::kPong && stage_ == Stage::kPinging) {
    Ponged();
  } else if (frame.kind == wire::FrameKind::kCounted &&
             stage_ == Stage::kPouring) {
    link_.there = Joined(StreamIn(frame), sender_->State());
    stage_ = Stage::kAsking;
    core_ = CoreWatch(clock_);
    connection_->Send(
        {.kind = wire::FrameKind::kAsk,
         .body = Dump(Json{{"pour_us", bounds_.pour.count() / 1000},
                           {"most", bounds_.most}})});
  } else if (frame.kind == wire::FrameKind::kChunk &&
             stage_ == Stage::kAsking) {
    connection_->Skip(LengthOf(frame));
  } else if (frame.kind == wire::FrameKind::kPoured &&
             stage_ == Stage::kAsking) {
    ByteStream counted = counter_.Steady(clock_.Now());
    counted.receiver = core_.Share();
    link_.back = Joined(counted, StreamIn(frame));
    Done("");
  }
}

void BandwidthMeter::Done(std::string stopped) {
  if (stage_ == Stage::kOver) {
    return;
  }
  stage_ = Stage::kOver;
  timer_.Cancel();
  link_.passes = 1;
  link_.stopped = std::move(stopped);
  if (!link_.stopped.empty()) {
    link_.there.sender = link_.back.receiver = core_.Share();
  }
  link_.pings = static_cast<int>(pings_.size());
  if (!pings_.empty()) {
    std::sort(pings_.begin(), pings_.end());
    link_.p50 = PercentileOf(pings_, 50);
    link_.p99 = PercentileOf(pings_, 99);
  }
  const auto state = sys::StateOf(connection_->fd());
  link_.least = state ? state->least_round_trip : Duration::zero();
  connection_->Begin({});
  // Not within a callback of the connection, which this meter owns.
  timer_ = loop_.After(Duration::zero(),
                       [done = std::move(done_), link = link_] { done(link); });
}

BandwidthServer::BandwidthServer(const sys::Clock& clock,
                                 std::unique_ptr<MeshConnection> connection)
    : clock_(clock), connection_(std::move(connection)) {
  connection_->Begin(
      {.frame = [this](const wire::Frame& frame) { Heard(frame); },
       .drained = [this] { sender_->More(); },
       .skipped =
           [this](std::uint64_t bytes) {
             counter_.Count(clock_.Now(), bytes);
           }});
}

void BandwidthServer::Heard(const wire::Frame& frame) {
  if (connection_->unsent() > 0) {
    return;  // no answer may come between what is poured
  }
  switch (frame.kind) {
    case wire::FrameKind::kLarge:
      connection_->Send({.kind = wire::FrameKind::kLargeSeen});
      return;
    case wire::FrameKind::kPing:
      connection_->Send({.kind = wire::FrameKind::kPong});
      return;
    case wire::FrameKind::kChunk:
      if (!core_) {
        core_.emplace(clock_);
      }
      connection_->Skip(LengthOf(frame));
      return;
    case wire::FrameKind::kPoured:
      Poured();
      return;
    case wire::FrameKind::kAsk:
      Asked(frame.body);
      return;
    default:
      return;
  }
}

void BandwidthServer::Poured() {
  ByteStream counted = counter_.Steady(clock_.Now());
  counted.receiver = core_ ? core_->Share() : CoreShare{};
  connection_->Send(
      {.kind = wire::FrameKind::kCounted, .body = Dump(ToJson(counted))});
  counter_ = {};
  core_.reset();
}

void BandwidthServer::Asked(const std::string& body) {
  const Json json = JsonOfFrame(body);
  PeerJson reader(json);
  const auto most = static_cast<std::uint64_t>(
      reader.Number("most", {0, static_cast<std::int64_t>(kMaxPoured)}));
  const Duration pour = reader.Time("pour_us");
  if (reader.wrong().empty()) {
    sender_ = std::make_unique<StreamSender>(
        clock_, *connection_,
        StreamSender::Until{.pour = std::min<Duration>(pour, kMaxPour),
                            .most = most});
  }
}

}  // namespace muster::netcheck

// SPDX-License-Identifier: Apache-2.0
#include "netcheck/mesh/dialer.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "channel/tcp_probe.h"
#include "netcheck/mesh/peer_json.h"
#include "sys/file/fs.h"

namespace muster::netcheck {
namespace {

constexpr std::chrono::milliseconds kStarved{100};

Path PathOfErrno(int why) {
  switch (why) {
    case ECONNREFUSED:
      return Path::kRefused;
    case ETIMEDOUT:
      return Path::kNoAnswer;
    case ECONNRESET:
      return Path::kClosed;
    case EADDRNOTAVAIL:  // no source port is left
    case ENOBUFS:
      return Path::kOwnLimit;
    default:
      return sys::CauseOfErrno(why) == Cause::kOsLimit ? Path::kOwnLimit
                                                       : Path::kNoRoute;
  }
}

std::string HostOf(const std::string& end) {
  return end.substr(0, end.rfind(':'));
}

Error Malformed(const std::string& field) {
  return Error(Cause::kNetWrongEndpoint,
               "a handshake of the mesh has no valid `" + field + "`");
}

std::string Got(std::size_t bytes) {
  return bytes == 0 ? "it sent nothing"
                    : "it sent " + BytesText(bytes) + " and then nothing";
}

}  // namespace

std::string MeshIdentity::Who() const {
  return "host " + Printable(host) + ", pid " + std::to_string(pid);
}

Json ToJson(const MeshIdentity& identity, std::string_view peers_digest) {
  Json json{{"rank", identity.rank},
            {"host", identity.host},
            {"pid", identity.pid},
            {"version", identity.version},
            {"list", identity.list_digest}};
  if (!identity.purpose.empty()) {
    json["purpose"] = identity.purpose;
  }
  if (!identity.mark.empty()) {
    json["mark"] = identity.mark;
  }
  if (peers_digest != identity.list_digest) {
    json["members"] = identity.members;
  }
  return json;
}

Result<MeshIdentity> MeshIdentityFromJson(const Json& json) {
  // The same fields and bounds as in a row.
  MUSTER_ASSIGN(const MeshRow row, MeshRowFromJson(json));
  MeshIdentity identity{.rank = row.rank,
                        .host = row.host,
                        .pid = row.pid,
                        .version = row.version,
                        .list_digest = TextIn(json, "list").value_or(""),
                        .purpose = TextIn(json, "purpose").value_or(""),
                        .mark = TextIn(json, "mark").value_or("")};
  PeerJson reader(json);
  for (const Json& one : reader.List("members")) {
    identity.members.push_back(one.is_string() ? BoundedText(one) : "");
  }
  if (!reader.wrong().empty()) {
    return Malformed(reader.wrong());
  }
  return identity;
}

Result<MeshWelcome> WelcomeFromJson(const Json& json) {
  MUSTER_ASSIGN(MeshIdentity who, MeshIdentityFromJson(json));
  const auto nonce = TextIn(json, "nonce");
  const auto from = TextIn(json, "seen_from");
  const auto clock = ParseInt(TextIn(json, "clock_us").value_or(""));
  if (!nonce || !from || !clock || *clock < 0 || *clock > kMaxMicros) {
    return Malformed(!nonce ? "nonce" : !from ? "seen_from" : "clock_us");
  }
  return MeshWelcome{.who = std::move(who),
                     .nonce = *nonce,
                     .seen_from = *from,
                     .clock = WallTime(std::chrono::microseconds(*clock))};
}

std::optional<std::string> TextIn(const Json& json, const char* name) {
  if (!json.is_object()) {
    return std::nullopt;
  }
  const auto at = json.find(name);
  if (at == json.end() || !at->is_string() ||
      at->get_ref<const std::string&>().size() > 64) {
    return std::nullopt;
  }
  return at->get<std::string>();
}

std::string MakeNonce() {
  std::random_device random;
  std::string nonce;
  for (int i = 0; i < 4; ++i) {
    std::array<char, 9> part{};
    std::snprintf(part.data(), part.size(), "%08x", random());
    nonce += part.data();
  }
  return nonce;
}

MeshTry::MeshTry(sys::Loop& loop, const sys::Clock& clock, Options options,
                 std::function<void(MeshTried)> done)
    : loop_(loop),
      clock_(clock),
      options_(std::move(options)),
      done_(std::move(done)) {
  result_.number = options_.number.Text();
  result_.tries = 1;
  asked_ = clock_.Now();
  dialling_ = sys::StartDial(options_.number);
  if (dialling_.why != EINPROGRESS) {
    // Not from here: who made this try does not have it yet.
    timer_ = loop_.After(Duration::zero(), [this] {
      dialling_.why == 0 ? Connected() : FromErrno(dialling_.why);
    });
    return;
  }
  ready_ = loop_.OnWritable(dialling_.fd.get(), [this] {
    const int why = sys::DialOutcome(dialling_.fd.get());
    why == 0 ? Connected() : FromErrno(why);
  });
  Await(options_.timeouts.connect);
}

void MeshTry::FromErrno(int why) {
  Done(PathOfErrno(why), sys::ErrnoName(why));
}

void MeshTry::Connected() {
  ready_.Cancel();
  stage_ = Stage::kSayingHello;
  nonce_ = MakeNonce();
  connection_ = std::make_unique<MeshConnection>(
      loop_, std::move(dialling_.fd),
      ConnectionEnds{.signer = options_.signer, .dialler = true});
  connection_->Begin(
      {.frame = [this](const wire::Frame& frame) { Heard(frame); },
       .end = [this](ConnectionEnd end) { Ended(end); }});
  // The list comes back from who has another one.
  Json hello = ToJson(*options_.self, options_.self->list_digest);
  hello["nonce"] = nonce_;
  asked_ = clock_.Now();
  asked_wall_ = clock_.WallNow();
  connection_->Greet();
  connection_->Send({.kind = wire::FrameKind::kHello, .body = Dump(hello)});
  connection_->Salt(nonce_);
  Await(options_.timeouts.answer);
}

void MeshTry::Heard(const wire::Frame& frame) {
  if (stage_ == Stage::kSayingHello &&
      frame.kind == wire::FrameKind::kWelcome) {
    Welcomed(frame);
  } else if (stage_ == Stage::kSayingHello &&
             frame.kind == wire::FrameKind::kRefusal) {
    Done(Path::kStranger, Printable(frame.body.substr(0, 200)));
  } else if (stage_ == Stage::kSendingLarge &&
             frame.kind == wire::FrameKind::kLargeSeen) {
    Done(Path::kOk, "");
  }
}

void MeshTry::Welcomed(const wire::Frame& frame) {
  const auto wall = clock_.WallNow();
  result_.round_trip = clock_.Now() - asked_;
  auto welcome = WelcomeFromJson(JsonOfFrame(frame.body));
  if (!welcome) {
    Done(Path::kForeign, "its welcome message is malformed");
    return;
  }
  result_.clock_ahead =
      welcome->clock - (asked_wall_ + (wall - asked_wall_) / 2);
  if (HostOf(welcome->seen_from) != HostOf(sys::OwnEnd(connection_->fd()))) {
    result_.translated = welcome->seen_from;
  }
  who_ = std::move(welcome->who);
  result_.answered_as = who_->rank;
  if (who_->rank != options_.target.rank) {
    const bool itself =
        who_->pid == options_.self->pid && who_->host == options_.self->host;
    Done(itself ? Path::kItself : Path::kOtherMember, who_->Who());
    return;
  }
  stage_ = Stage::kSendingLarge;
  connection_->Salt(nonce_ + welcome->nonce);
  connection_->Send({.kind = wire::FrameKind::kLarge,
                     .body = std::string(wire::kLargeSize, 'm')});
  Await(options_.timeouts.large);
}

void MeshTry::Ended(ConnectionEnd end) {
  const std::string& bytes = connection_->unread();
  if (end == ConnectionEnd::kStranger) {
    Done(Path::kStranger, "its frames are not signed with the key of this run");
  } else if (!bytes.empty()) {
    Done(Path::kForeign, channel::NameOfAnswer(bytes));
  } else {
    Done(Path::kClosed, stage_ == Stage::kSendingLarge
                            ? "it closed the connection during the test"
                            : "it closed the connection immediately");
  }
}

PathResult MeshTry::Judge(Path path, std::string seen) const {
  PathResult result = result_;
  result.path = path;
  result.seen = std::move(seen);
  return result;
}

PathResult MeshTry::SoFar() const {
  if (stage_ == Stage::kOver) {
    return result_;
  }
  const Duration took = clock_.Now() - asked_;
  if (stage_ == Stage::kConnecting) {
    return Judge(Path::kNoAnswer, muster::ToString(took) + " waited");
  }
  const std::string& bytes = connection_->unread();
  if (stage_ == Stage::kSayingHello) {
    // An answer without its end: whatever it is, it is no frame so far.
    if (!bytes.empty() && !bytes.starts_with("MUSF")) {
      return Judge(Path::kForeign, channel::NameOfAnswer(bytes));
    }
    return Judge(Path::kSilent, Got(bytes.size()));
  }
  const auto state = sys::StateOf(connection_->fd());
  if (state && (state->unanswered > 0 || state->unsent > 0)) {
    return Judge(Path::kLargeLost,
                 std::to_string(state->unanswered) + " segments of " +
                     BytesText(state->segment) + " not acknowledged, " +
                     std::to_string(state->sent_again) + " retransmitted");
  }
  return Judge(Path::kSilent, "it stopped during the test");
}

void MeshTry::Await(Duration timeout) {
  due_ = clock_.Now() + timeout;
  timer_ = loop_.After(timeout, [this] { Late(); });
}

void MeshTry::Late() {
  // This process did not run for a while: what came meanwhile is not read yet.
  if (clock_.Now() > due_ + kStarved && !std::exchange(starved_, true)) {
    Await(options_.timeouts.answer);
    return;
  }
  PathResult result = SoFar();
  Done(result.path, std::move(result.seen));
}

void MeshTry::Done(Path path, std::string seen) {
  if (stage_ == Stage::kOver) {
    return;
  }
  result_ = Judge(path, std::move(seen));
  MeshTried tried{.result = result_, .who = who_};
  stage_ = Stage::kOver;
  ready_.Cancel();
  timer_.Cancel();
  if (connection_) {
    connection_->Begin({});
    if (path == Path::kOk) {
      tried.connection = std::move(connection_);
    }
  }
  // Not below a callback of the talk, which goes with this try.
  timer_ = loop_.After(Duration::zero(),
                       [done = std::move(done_),
                        kept = std::make_shared<MeshTried>(std::move(tried))] {
                         done(std::move(*kept));
                       });
}

}  // namespace muster::netcheck

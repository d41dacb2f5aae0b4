// SPDX-License-Identifier: Apache-2.0
#include "netcheck/mesh/prober.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "cluster/members.h"
#include "netcheck/mesh/peer_json.h"
#include "sys/file/fs.h"
#include "sys/net/arp.h"

namespace muster::netcheck {
namespace {

constexpr std::chrono::milliseconds kBeat{50};
constexpr std::chrono::milliseconds kStandstill{200};
constexpr std::chrono::milliseconds kAskAgain{150};
constexpr std::chrono::milliseconds kLongInComing{700};
constexpr std::size_t kAskedAtOnce = 3;
constexpr std::chrono::milliseconds kAfterArrival{1500};
constexpr std::chrono::milliseconds kExchange{1500};
constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kLongestPause{400};
constexpr int kTriesOfTheDecided = 3;
constexpr std::size_t kThreads = 16;
constexpr std::uint16_t kSsh = 22;

// What does not heal by waiting; still looked at more than once.
bool Settled(Path path) {
  switch (path) {
    case Path::kItself:
    case Path::kOtherMember:
    case Path::kStranger:
    case Path::kForeign:
      return true;
    default:
      return false;
  }
}

}  // namespace

MeshProber::MeshProber(sys::Loop& loop, const sys::Clock& clock,
                       MeshOptions options,
                       std::function<void(MeshOutcome)> done)
    : loop_(loop),
      clock_(clock),
      options_(std::move(options)),
      done_(std::move(done)),
      began_(clock.Now()),
      end_(began_ + options_.wait),
      called_(began_),
      looked_(began_),
      pool_(kThreads, 4096) {
  options_.self.list_digest = Digest(Join(options_.self.members, "\n"));
  row_ = {.rank = options_.self.rank,
          .host = options_.self.host,
          .pid = options_.self.pid,
          .version = options_.self.version,
          .versions = options_.versions,
          .files = options_.files};
  if (row_.rank >= 0) {
    Claim(options_.self);
    listener_.emplace(loop_, clock_,
                      MeshListener::Options{.cluster = &options_.cluster,
                                            .self = &options_.self,
                                            .signer = options_.signer,
                                            .answer = options_.timeouts.answer,
                                            .borrowed = options_.borrowed},
                      [this](MeshGuest guest) { Enter(std::move(guest)); });
    row_.taken = listener_->taken();
  }
  for (const MeshTarget& target : options_.to_try) {
    Aim& aim = aims_.emplace_back();
    aim.target = target;
    aim.address = AddressOf(options_.cluster, target);
    aim.began = began_;
    aim.timer = loop_.After(Duration::zero(), [this, &aim] { LookUp(aim); });
  }
  beat_ = loop_.Every(kBeat, [this] { LookAtTime(); });
}

MeshProber::~MeshProber() {
  *alive_ = false;
}

void MeshProber::Enter(MeshGuest guest) {
  const auto peer = peers_.emplace(peers_.end());
  const int rank = guest.who.rank;
  if (rank >= 0) {
    Claim(guest.who);
    LookForMark(guest.who);
    row_.heard.insert(rank);
  }
  peer->who = std::move(guest.who);
  peer->connection = std::move(guest.connection);
  peer->connection->Begin(
      {.frame = [this, peer](const wire::Frame& frame) { Take(peer, frame); },
       .end = [this, peer](ConnectionEnd) { Forget(peer); }});
  if (rank >= 0) {
    Arrived(rank);
  }
  if (row_.final) {
    peer->connection->Send(
        {.kind = wire::FrameKind::kRow, .body = texts_.at(row_.rank)});
  }
}

void MeshProber::Take(PeerAt peer, const wire::Frame& frame) {
  if (frame.kind == wire::FrameKind::kLarge) {
    peer->connection->Send({.kind = wire::FrameKind::kLargeSeen});
    return;
  }
  if (frame.kind == wire::FrameKind::kDone) {
    // On whichever connection it says so.
    for (Peer& one : peers_) {
      one.done |=
          one.who.rank == peer->who.rank && one.who.pid == peer->who.pid;
    }
    ProbeSoon();
    return;
  }
  if (frame.kind == wire::FrameKind::kRow) {
    TakeRow(frame.body);
  } else if (frame.kind == wire::FrameKind::kNeed) {
    GiveRows(peer, frame.body);
  }
}

void MeshProber::TakeRow(const std::string& text) {
  auto row = MeshRowFromJson(JsonOfFrame(text));
  const auto size = static_cast<int>(options_.cluster.members.size());
  if (!row || !row->final || row->rank < 0 || row->rank >= size) {
    return;
  }
  const int rank = row->rank;
  KeepRanksBelow(size, *row);
  present_.insert(row->heard.begin(), row->heard.end());
  if (rows_.try_emplace(rank, *std::move(row)).second) {
    texts_[rank] = text;
  }
  Arrived(rank);
  ProbeSoon();
}

void MeshProber::GiveRows(PeerAt peer, const std::string& ranks) {
  // Who has not taken what it was sent will ask again.
  const Json list = JsonOfFrame(ranks);
  if (!list.is_array() || peer->connection->unsent() > 0) {
    return;
  }
  std::set<int> asked;
  for (const Json& one : list) {
    if (const auto rank = RankOf(one)) {
      asked.insert(*rank);
    }
  }
  for (const int rank : asked) {
    if (const auto text = texts_.find(rank); text != texts_.end()) {
      peer->connection->Send(
          {.kind = wire::FrameKind::kRow, .body = text->second});
    }
  }
}

void MeshProber::Forget(PeerAt peer) {
  // Its callbacks may be on the stack.
  peer->gone = true;
}

void MeshProber::Sweep() {
  std::erase_if(peers_, [](const Peer& one) { return one.gone; });
}

void MeshProber::Claim(const MeshIdentity& who) {
  row_.claims[who.rank].insert(who.Who());
  const auto& ours = options_.self.members;
  if (!who.members.empty() && who.members != ours) {
    const auto [here, there] = std::mismatch(
        ours.begin(), ours.end(), who.members.begin(), who.members.end());
    row_.other_lists[who.Who()] =
        (there == who.members.end() ? "nothing" : *there) + ", where " +
        options_.self.Who() + " has " +
        (here == ours.end() ? "nothing" : *here);
  }
}

// Once for each rank; the place may be a disk of the network that hangs.
void MeshProber::LookForMark(const MeshIdentity& who) {
  if (!options_.unseen || who.mark.empty() || row_.final ||
      row_.marks.count(who.rank) > 0 || !marks_.insert(who.rank).second) {
    return;
  }
  const auto look = [this, rank = who.rank, mark = who.mark,
                     unseen = options_.unseen, alive = alive_] {
    auto folders = std::make_shared<std::vector<std::string>>(unseen(mark));
    loop_.Post([this, rank, folders, alive] {
      if (*alive) {
        marks_.erase(rank);
        row_.marks[rank] = std::move(*folders);
        ProbeSoon();
      }
    });
  };
  if (!pool_.Submit(look)) {
    marks_.erase(who.rank);
  }
}

void MeshProber::Arrived(int rank) {
  came_.try_emplace(rank, clock_.Now());
  if (rank == row_.rank || !present_.insert(rank).second) {
    return;
  }
  called_ = clock_.Now();
  if (!row_.final) {
    end_ = std::min(std::max(end_, clock_.Now() + kAfterArrival),
                    began_ + options_.wait + kAfterArrival);
  }
}

void MeshProber::LookUp(Aim& aim) {
  auto numbers = std::make_shared<Result<std::vector<sys::SocketAddress>>>(
      std::vector<sys::SocketAddress>());
  if (aim.address.IsNumeric()) {
    Named(aim, sys::Resolve(aim.address, Deadline::At(end_)));
    return;
  }
  const auto ask = [this, &aim, alive = alive_, numbers,
                    deadline = Deadline::At(end_), address = aim.address] {
    *numbers = sys::Resolve(address, deadline);
    loop_.Post([this, &aim, alive, numbers] {
      if (*alive) {
        Named(aim, std::move(*numbers));
      }
    });
  };
  if (!pool_.Submit(ask)) {
    Again(aim);
  }
}

void MeshProber::Named(Aim& aim,
                       Result<std::vector<sys::SocketAddress>> numbers) {
  if (row_.final) {
    return;
  }
  if (!numbers) {
    MeshTried tried;
    tried.result.path = Path::kUnresolved;
    tried.result.seen = numbers.error().message();
    Tried(aim, std::move(tried));
    return;
  }
  aim.numbers = *std::move(numbers);
  Try(aim);
}

void MeshProber::Try(Aim& aim) {
  aim.tried_last = clock_.Now();
  const std::size_t turn =
      static_cast<std::size_t>(aim.tries) % aim.numbers.size();
  aim.attempt = std::make_unique<MeshTry>(
      loop_, clock_,
      MeshTry::Options{.target = aim.target,
                       .number = aim.numbers[turn],
                       .self = &options_.self,
                       .signer = options_.signer,
                       .timeouts = options_.timeouts},
      [this, &aim](MeshTried tried) { Tried(aim, std::move(tried)); });
}

void MeshProber::Tried(Aim& aim, MeshTried tried) {
  aim.attempt.reset();
  if (row_.final) {
    return;
  }
  const Path before = aim.result.path;
  const Path path = tried.result.path;
  // Who spoke and then left tells more by what it said, and a number without a
  // route less than another of the same name.
  const bool tells_less = (Settled(before) && path == Path::kRefused) ||
                          (aim.numbers.size() > 1 && path == Path::kNoRoute &&
                           before != Path::kUntried);
  if (!tells_less) {
    aim.result = std::move(tried.result);
  }
  aim.result.tries = ++aim.tries;
  if (tried.who && tried.who->rank >= 0) {
    Claim(*tried.who);
    LookForMark(*tried.who);
    Arrived(tried.who->rank);
  }
  if (path == Path::kOk) {
    if (aim.first != Path::kUntried) {
      aim.result.before = aim.first;
      aim.result.healed = clock_.Now() - aim.began;
    }
    aim.decided = true;
    const auto peer = peers_.emplace(peers_.end());
    peer->who = *std::move(tried.who);
    peer->connection = std::move(tried.connection);
    peer->gone = !peer->connection->open();
    peer->connection->Begin(
        {.frame = [this, peer](const wire::Frame& frame) { Take(peer, frame); },
         .end = [this, peer](ConnectionEnd) { Forget(peer); }});
    ProbeSoon();
    return;
  }
  if (aim.first == Path::kUntried) {
    aim.first = path;
  }
  aim.decided =
      Settled(path) && before == path && aim.tries >= kTriesOfTheDecided;
  if (path == Path::kNoAnswer) {
    AskForLife(aim);
  }
  if (!aim.decided) {
    Again(aim);
  }
  ProbeSoon();
}

void MeshProber::Again(Aim& aim) {
  const int doublings = std::min(aim.tries, 4);
  const Duration pause =
      std::min<Duration>(kFirstPause * (1 << doublings) / 2, kLongestPause);
  aim.timer = loop_.After(pause, [this, &aim] {
    if (!row_.final) {
      aim.numbers.empty() ? LookUp(aim) : Try(aim);
    }
  });
}

void MeshProber::AskForLife(Aim& aim) {
  const auto [at, fresh] = lives_.try_emplace(aim.address.host);
  if (!fresh || aim.numbers.empty()) {
    return;
  }
  sys::SocketAddress number = aim.numbers.front();
  number.set_port(kSsh);
  Life& life = at->second;
  life.dialling = sys::StartDial(number);
  const auto say = [&life](int why) {
    life.sign = why == 0              ? "port 22 is open"
                : why == ECONNREFUSED ? "port 22 refuses"
                                      : "";
    life.ready.Cancel();
    life.dialling.fd.Close();
  };
  if (life.dialling.why != EINPROGRESS) {
    say(life.dialling.why);
    return;
  }
  life.ready = loop_.OnWritable(life.dialling.fd.get(), [&life, say] {
    say(sys::DialOutcome(life.dialling.fd.get()));
  });
}

bool MeshProber::CameBefore(const Aim& aim) const {
  const auto came = came_.find(aim.target.rank);
  return came != came_.end() && came->second <= aim.tried_last;
}

bool MeshProber::AllDecided() const {
  // A member in whose place something else answers may come and say why.
  return std::all_of(aims_.begin(), aims_.end(), [&](const Aim& aim) {
    return aim.decided && (aim.result.path == Path::kOk ||
                           present_.count(aim.target.rank) > 0);
  });
}

// Not below a callback of what is swept away then.
void MeshProber::ProbeSoon() {
  if (!ended_ && !soon_.active()) {
    soon_ = loop_.After(Duration::zero(), [this] { LookAtTime(); });
  }
}

void MeshProber::LookAtTime() {
  if (ended_) {
    return;
  }
  Sweep();
  // This process did not run for a while: what came meanwhile is not read yet.
  const auto now = clock_.Now();
  if (now > std::exchange(looked_, now) + kStandstill &&
      !std::exchange(starved_, true)) {
    end_ = std::max(end_, now + options_.timeouts.answer);
  }
  if (!row_.final) {
    if ((!AllDecided() || !marks_.empty()) && clock_.Now() < end_) {
      return;
    }
    Finish();
  }
  Share();
}

void MeshProber::Finish() {
  for (Aim& aim : aims_) {
    if (aim.result.path == Path::kUntried) {
      aim.result = aim.attempt ? aim.attempt->SoFar() : PathResult{};
      if (!aim.attempt) {
        aim.result.path = Path::kUnresolved;
        aim.result.seen = "the name service did not respond in time";
      }
      aim.result.tries = std::max(aim.tries, 1);
    }
    const auto life = lives_.find(aim.address.host);
    if (life != lives_.end()) {
      aim.result.sign_of_life = life->second.sign;
    }
    if (aim.result.path == Path::kRefused) {
      // Only then was somebody listening there.
      aim.result.sign_of_life =
          CameBefore(aim) ? "its member had joined before the last attempt"
                          : "";
    }
    row_.paths[aim.target] = aim.result;
    aim.timer.Cancel();
    aim.attempt.reset();
  }
  lives_.clear();
  QueryArp();
  row_.final = true;
  rows_[row_.rank] = row_;
  texts_[row_.rank] = Dump(ToJson(row_));
  // Others may try until their time is over.
  end_ = std::max(end_, clock_.Now()) + kExchange;
  ask_next_ = clock_.Now() + kAskAgain;
  ask_all_ = clock_.Now() + kLongInComing;
  const wire::Frame frame{.kind = wire::FrameKind::kRow,
                          .body = texts_[row_.rank]};
  std::set<int> told;
  for (Peer& peer : peers_) {
    // Once to each member, to each that only looks.
    if (!peer.gone && row_.rank >= 0 &&
        (peer.who.rank < 0 || told.insert(peer.who.rank).second)) {
      peer.connection->Send(frame);
    }
  }
}

// Of hosts that give no answer: whether they are on an own network, and up.
void MeshProber::QueryArp() {
  const auto unanswered = [](const auto& path) {
    return path.second.path == Path::kNoAnswer ||
           path.second.path == Path::kNoRoute;
  };
  if (std::none_of(row_.paths.begin(), row_.paths.end(), unanswered)) {
    return;
  }
  const auto neighbors = sys::ArpTable(clock_.Now() - began_);
  for (auto& path : row_.paths) {
    const std::string& number = path.second.number;
    const auto at = neighbors.find(number.substr(0, number.rfind(':')));
    if (unanswered(path) && at != neighbors.end()) {
      path.second.neighbor =
          at->second == sys::Neighbor::kAnswers ? kAnswersArp : kNoArp;
    }
  }
}

std::set<int> MeshProber::Lacking() const {
  std::set<int> lacking;
  for (const int rank : present_) {
    if (rows_.count(rank) == 0) {
      lacking.insert(rank);
    }
  }
  return lacking;
}

bool MeshProber::NobodyNeedsUs() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const Peer& peer) {
    return peer.gone || peer.who.rank < 0 || peer.done;
  });
}

// Who is connected sends its row as soon as it has one.
std::set<int> MeshProber::OutOfReach(std::set<int> ranks) const {
  for (const Peer& peer : peers_) {
    if (!peer.gone) {
      ranks.erase(peer.who.rank);
    }
  }
  return ranks;
}

// Rows come by themselves from those that we reach. Only for the others, and
// after a while, a few at a time are asked: all at once they would all answer.
void MeshProber::AskFor(const std::set<int>& lacking) {
  if (clock_.Now() < ask_next_) {
    return;
  }
  ask_next_ = clock_.Now() + kAskAgain;
  const wire::Frame need{.kind = wire::FrameKind::kNeed,
                         .body = Dump(Json(lacking))};
  std::size_t asked = 0;
  for (std::size_t i = 0; i < peers_.size() && asked < kAskedAtOnce; ++i) {
    // The next one in turn goes to the end of the list.
    peers_.splice(peers_.end(), peers_, peers_.begin());
    Peer& peer = peers_.back();
    if (!peer.gone && peer.connection->unsent() == 0) {
      peer.connection->Send(need);
      ++asked;
    }
  }
}

void MeshProber::Share() {
  const auto lacking = Lacking();
  // What was sent by who is connected may have gone into another connection,
  // which had ended at this end.
  const auto ask = clock_.Now() < ask_all_ ? OutOfReach(lacking) : lacking;
  if (!ask.empty()) {
    AskFor(ask);
  }
  bool somebody = false;
  for (Peer& peer : peers_) {
    if (peer.gone) {
      continue;
    }
    somebody |= peer.who.rank >= 0;
    if (lacking.empty() && !std::exchange(peer.told_done, true)) {
      peer.connection->Send({.kind = wire::FrameKind::kDone});
    }
  }
  // Who is connected may have begun later, and has as long as we had.
  const bool owed = OutOfReach(lacking).size() < lacking.size();
  const auto theirs = called_ + options_.wait + kAfterArrival + kExchange;
  const auto latest =
      std::min(owed ? std::max(end_, theirs) : end_, began_ + options_.most);
  // A member whose connections all ended without a row gives none any more.
  if ((lacking.empty() && NobodyNeedsUs()) || !somebody ||
      clock_.Now() >= latest) {
    End();
  }
}

void MeshProber::End() {
  if (ended_) {
    return;
  }
  ended_ = true;
  beat_.Cancel();
  // What was sent last has to leave before the sockets close: they stay open
  // until this is destroyed.
  done_({.rows = rows_,
         .took = clock_.Now() - began_,
         .since_roll_call = clock_.Now() - called_});
}

Result<MeshOutcome> RunMesh(const MeshOptions& options,
                            const sys::Clock& clock) {
  MUSTER_ASSIGN(const auto loop, sys::Loop::Make());
  MeshOutcome outcome;
  {
    MeshProber member(*loop, clock, options, [&](MeshOutcome told) {
      outcome = std::move(told);
      loop->Quit();
    });
    loop->Run();
  }
  return outcome;
}

}  // namespace muster::netcheck

// SPDX-License-Identifier: Apache-2.0
#include "channel/in_process.h"

#include "channel/inbox.h"
#include "channel/message_stream.h"

namespace muster::channel {
namespace {

class InProcessLink : public Link {
 public:
  InProcessLink(sys::Loop& loop, std::shared_ptr<Inbox> own,
                std::shared_ptr<Inbox> other)
      : loop_(loop), own_(std::move(own)), other_(std::move(other)) {}

  ~InProcessLink() override { Close(); }

  void Send(Envelope message) override {
    if (own_->closed()) {
      return;
    }
    if (message.body.size() > kMaxMessage) {
      const Error error = TooLarge(message);
      loop_.Post([own = own_, error] { own->Lose(error); });
      return;
    }
    loop_.Post([other = other_, message = std::move(message)]() mutable {
      other->Deliver(std::move(message));
    });
  }

  void OnMessage(std::function<void(Envelope)> handler) override {
    own_->OnMessage(std::move(handler));
  }

  void OnLost(std::function<void(const Error&)> handler) override {
    own_->OnLost(std::move(handler));
  }

  void Close() override {
    if (open_) {
      open_ = false;
      own_->Close();
      loop_.Post([other = other_] {
        other->Lose(Error(Cause::kPeerDied, "the peer closed the connection"));
      });
    }
  }

  std::string peer() const override { return "in-process"; }

 private:
  sys::Loop& loop_;
  bool open_ = true;
  // Each end delivers into the other's inbox, also after that link is gone.
  std::shared_ptr<Inbox> own_;
  std::shared_ptr<Inbox> other_;
};

class InProcessListener : public Listener {
 public:
  InProcessListener(InProcessNetwork& network, Address address)
      : network_(network), address_(std::move(address)) {}
  ~InProcessListener() override { network_.doors.erase(address_); }
  Address address() const override { return address_; }

 private:
  InProcessNetwork& network_;
  Address address_;
};

}  // namespace

std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> InProcessLinks(
    sys::Loop& loop) {
  auto a = std::make_shared<Inbox>(loop);
  auto b = std::make_shared<Inbox>(loop);
  return {std::make_unique<InProcessLink>(loop, a, b),
          std::make_unique<InProcessLink>(loop, b, a)};
}

Result<std::unique_ptr<Listener>> InProcessTransport::Listen(
    const Address& address, wire::Hello identity, OnLink on_link) {
  Address taken = address;
  if (taken.port == 0) {
    taken.port = network_.next_port++;
  }
  if (const auto there = network_.doors.find(taken);
      there != network_.doors.end()) {
    return TakenBy(there->second->identity, identity, taken);
  }
  network_.doors[taken] = std::make_shared<InProcessNetwork::Door>(
      InProcessNetwork::Door{std::move(identity), std::move(on_link)});
  return std::unique_ptr<Listener>(
      std::make_unique<InProcessListener>(network_, taken));
}

ProbeResult InProcessTransport::Look(const Address& address) const {
  if (auto fault = network_.faults.find(address);
      fault != network_.faults.end()) {
    return fault->second;
  }
  if (auto door = network_.doors.find(address); door != network_.doors.end()) {
    return {.what = ProbeOutcome::kAgent,
            .agent = door->second->identity,
            .error = std::nullopt};
  }
  return Unlike(ProbeOutcome::kRefused,
                Error(Cause::kNetWrongEndpoint,
                      muster::ToString(address) + " refused the connection"));
}

void InProcessTransport::Dial(
    const Address& address, Deadline deadline,
    std::function<void(Result<std::unique_ptr<Link>>)> done) {
  Identify(address, deadline, [this, address, done](ProbeResult seen) {
    const auto door = network_.doors.find(address);
    if (seen.what != ProbeOutcome::kAgent) {
      done(*std::move(seen.error));
    } else if (door == network_.doors.end() || !door->second->on_link) {
      done(Error(Cause::kNetWrongEndpoint,
                 muster::ToString(address) + " is not the coordinator"));
    } else {
      auto [here, there] = InProcessLinks(loop_);
      const auto keep = door->second;  // on_link may end the listening
      keep->on_link(std::move(there));
      done(std::move(here));
    }
  });
}

void InProcessTransport::Identify(const Address& address, Deadline deadline,
                                  std::function<void(ProbeResult)> done) {
  const ProbeResult now = Look(address);
  const bool silent =
      now.what == ProbeOutcome::kNoAnswer || now.what == ProbeOutcome::kSilent;
  Later(silent ? deadline.Remaining() : Duration::zero(),
        [this, address, done] { done(Look(address)); });
}

void InProcessTransport::Later(Duration delay, std::function<void()> task) {
  const int id = next_++;
  pending_[id] = loop_.After(delay, [this, id, task = std::move(task)] {
    // Moved out first: the task may destroy this transport.
    const auto handle = std::move(pending_[id]);
    pending_.erase(id);
    task();
  });
}

}  // namespace muster::channel

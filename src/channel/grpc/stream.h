// SPDX-License-Identifier: Apache-2.0
// A Stream over gRPC: the reactors of both ends, and the channel of the one who
// calls. Seen by the gRPC transport only.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "channel/grpc/muster.v1.grpc.pb.h"
#include "channel/grpc/security.h"
#include "channel/message_stream.h"
#include "muster/address.h"
#include "muster/deadline.h"
#include "wire/hello.h"

namespace muster::channel {

namespace pb = muster::v1;

// How long the last messages of closed links may take when all ends.
inline constexpr Duration kLinger = std::chrono::seconds(1);
// An Envelope is a little larger than its body.
inline constexpr int kMaxWire = static_cast<int>(kMaxMessage) + (64 << 10);

// A connection of its own, without a proxy.
std::shared_ptr<grpc::Channel> ChannelTo(
    const Address& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials);
// The same time on gRPC's clock.
std::chrono::system_clock::time_point ForGrpc(Deadline deadline);
// net-wrong-endpoint: no agent, or not this one, is there. peer-died: it was.
// Else the cause with which the agent there refused.
Error FromGrpc(const grpc::Status& status);

// The streams that live: who ends has to wait for them.
class Streams {
 public:
  void Enter(Stream* stream) {
    MutexLock lock(mutex_);
    live_[stream] = stream->weak_from_this();
  }
  void Leave(Stream* stream) {
    {
      MutexLock lock(mutex_);
      live_.erase(stream);
    }
    left_.NotifyAll();
  }
  // Closed ones may send what they have; then all are ended.
  void EndAll() {
    if (!WaitUntilNone(Deadline::After(kLinger))) {
      for (const auto& stream : All()) {
        stream->Abort();
      }
      WaitUntilNone(Deadline::After(kLinger));
    }
  }

 private:
  bool WaitUntilNone(Deadline deadline) {
    MutexLock lock(mutex_);
    while (!live_.empty()) {
      if (!left_.WaitUntil(mutex_, deadline.when())) {
        return live_.empty();
      }
    }
    return true;
  }
  std::vector<std::shared_ptr<Stream>> All() {
    MutexLock lock(mutex_);
    std::vector<std::shared_ptr<Stream>> all;
    for (const auto& [key, weak] : live_) {
      if (auto stream = weak.lock()) {
        all.push_back(std::move(stream));
      }
    }
    return all;
  }

  Mutex mutex_;
  CondVar left_;
  std::map<Stream*, std::weak_ptr<Stream>> live_ MUSTER_GUARDED_BY(mutex_);
};

// What both ends of a stream do alike. Keeps itself alive from Start to OnDone.
template <typename Reactor>
class ReactorStream : public Reactor, public Stream {
 public:
  ReactorStream(sys::Loop& loop, sys::Clock& clock,
                std::shared_ptr<Streams> streams)
      : Stream(loop, clock), streams_(std::move(streams)) {}

  void OnReadDone(bool ok) override {
    if (ok) {
      ReadDone(Envelope{std::move(*read_.mutable_kind()),
                        std::move(*read_.mutable_body())});
    } else {
      ReadDone(std::nullopt);
    }
  }
  void OnWriteDone(bool ok) override { WriteDone(ok); }

 protected:
  void Live() {
    self_ = this->shared_from_this();
    streams_->Enter(this);
  }
  // The last thing that a reactor does. The loop lets go of it: a channel that
  // went in a callback would have gRPC's own thread wait for itself.
  void Done(Error why) {
    const auto streams = streams_;
    Stream* const key = this;
    Ended(std::move(why), std::move(self_));
    streams->Leave(key);
  }

  void StartRead() override {
    read_.Clear();
    Reactor::StartRead(&read_);
  }
  void StartWrite(Envelope message) override {
    write_.set_protocol(wire::kProtocol);
    write_.set_kind(std::move(message.kind));
    write_.set_body(std::move(message.body));
    Reactor::StartWrite(&write_);
  }

 private:
  const std::shared_ptr<Streams> streams_;  // by every stream that lives
  std::shared_ptr<Stream> self_;
  pb::Envelope read_;
  pb::Envelope write_;
};

class ClientStream : public ReactorStream<
                         grpc::ClientBidiReactor<pb::Envelope, pb::Envelope>> {
 public:
  using ReactorStream::ReactorStream;

  // `keyring`: null on a channel in clear text.
  void Start(const std::shared_ptr<grpc::Channel>& channel,
             const CertificateStore* certificates) {
    stub_ = pb::Agent::NewStub(channel);
    if (certificates != nullptr) {
      SayWhere(context_, *certificates);
    }
    Live();
    stub_->async()->Attend(&context_, this);
    // Reads and writes are started from the loop too: until Over the stream
    // must not go away between two of them.
    AddHold();
    Begin();
    StartCall();
  }
  void OnDone(const grpc::Status& status) override { Done(FromGrpc(status)); }

 protected:
  void FinishWriting(bool over) override {
    if (!over) {
      StartWritesDone();
    }
  }
  void Over() override { RemoveHold(); }
  void Cancel() override { context_.TryCancel(); }

 private:
  std::unique_ptr<pb::Agent::Stub> stub_;
  grpc::ClientContext context_;
};

class ServerStream : public ReactorStream<
                         grpc::ServerBidiReactor<pb::Envelope, pb::Envelope>> {
 public:
  ServerStream(sys::Loop& loop, sys::Clock& clock,
               std::shared_ptr<Streams> streams,
               grpc::CallbackServerContext* context)
      : ReactorStream(loop, clock, std::move(streams)), context_(context) {}

  // `on_done`: when it has ended, on any thread.
  void Start(std::function<void()> on_done) {
    on_done_ = std::move(on_done);
    Live();
    Begin();
    // The first thing that arrives opens the link on the other side.
    Send({.kind = kBeatKind, .body = ""});
  }
  void OnCancel() override {
    broken_ = true;
    Abort();
  }
  void OnDone() override {
    if (on_done_) {
      on_done_();
    }
    Done(Error(Cause::kPeerDied, broken_ ? "the connection broke"
                                         : "the peer closed the connection"));
  }

 protected:
  void FinishWriting(bool) override { Finish(grpc::Status::OK); }
  void Over() override {}
  void Cancel() override { context_->TryCancel(); }

 private:
  grpc::CallbackServerContext* const context_;  // valid until OnDone
  std::function<void()> on_done_;
  std::atomic<bool> broken_{false};
};

}  // namespace muster::channel

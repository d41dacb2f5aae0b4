// SPDX-License-Identifier: Apache-2.0
// A link over a stream of messages that other threads serve: one read and one
// write at a time, queued writes, beats. Knows no transport.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "channel/inbox.h"
#include "channel/keepalive.h"
#include "channel/link.h"
#include "sys/time/clock.h"
#include "sys/time/loop.h"

namespace muster::channel {

inline constexpr const char* kBeatKind = "beat";

// One direction-pair of a transport. The transport derives from it, starts what
// the Start… methods ask for and reports each end by the matching …Done, from
// any thread, but never from within the Start… call itself. Lives (shared by
// the transport, the link and posted tasks) until Ended.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(sys::Loop& loop, sys::Clock& clock);
  virtual ~Stream() = default;

  // The loop's thread. Messages are queued; what was queued before Close is
  // still sent, whatever arrives afterward is not delivered.
  void Send(Envelope message);
  void Close();
  // Ends at once. Any thread.
  void Abort();
  // Called on the loop, once: something arrived, or it ended before.
  void WhenOpen(std::function<void(std::optional<Error>)> open);

  // True when the other side has been silent for too long; every kBeat.
  bool Silent() { return keepalive_.Tick(clock_.Now()); }
  const std::shared_ptr<Inbox>& inbox() const { return inbox_; }

 protected:
  // The transport's threads.
  void Begin();                                // the first read
  void ReadDone(std::optional<Envelope> got);  // nullopt: nothing will come
  void WriteDone(bool sent);                   // false: nothing can be sent
  // Nothing is under way any more. The loop lets go of `self`, its last owner
  // but links; the caller must not use the stream again.
  void Ended(Error why, std::shared_ptr<Stream> self);

  // Called with the mutex held, one at a time each.
  virtual void StartRead() = 0;
  virtual void StartWrite(Envelope message) = 0;
  // Nothing more will be written. `over`: nor read; the stream is at its end.
  virtual void FinishWriting(bool over) = 0;
  // No call of StartRead, StartWrite or FinishWriting(false) will follow.
  virtual void Over() = 0;
  // Makes what is under way end soon. Not called after Ended.
  virtual void Cancel() = 0;

 private:
  void Arrived(Envelope message);
  void NextRead() MUSTER_REQUIRES(mutex_);
  void NextWrite() MUSTER_REQUIRES(mutex_);
  void SetOver() MUSTER_REQUIRES(mutex_);

  sys::Loop& loop_;
  sys::Clock& clock_;
  const std::shared_ptr<Inbox> inbox_;  // outlives the link while tasks run
  // The loop's.
  Keepalive keepalive_;
  std::function<void(std::optional<Error>)> when_open_;

  Mutex mutex_;
  std::deque<Envelope> outbox_ MUSTER_GUARDED_BY(mutex_);
  bool reading_ MUSTER_GUARDED_BY(mutex_) = false;
  bool writing_ MUSTER_GUARDED_BY(mutex_) = false;
  bool closing_ MUSTER_GUARDED_BY(mutex_) = false;
  bool write_failed_ MUSTER_GUARDED_BY(mutex_) = false;
  bool over_ MUSTER_GUARDED_BY(mutex_) = false;
  bool finished_ MUSTER_GUARDED_BY(mutex_) = false;
  bool ended_ MUSTER_GUARDED_BY(mutex_) = false;
};

// The Link of a stream: sends beats, and is lost when the other side is silent.
class StreamLink : public Link {
 public:
  StreamLink(sys::Loop& loop, std::shared_ptr<Stream> stream, std::string peer,
             std::optional<int> proven_rank = std::nullopt);
  ~StreamLink() override;

  void Send(Envelope message) override;
  void OnMessage(std::function<void(Envelope)> handler) override;
  void OnLost(std::function<void(const Error&)> handler) override;
  void Close() override;
  std::string peer() const override { return peer_; }
  std::optional<int> proven_rank() const override { return proven_rank_; }

  // By the link's own timer, every kBeat: sends a beat, or finds it lost.
  void Beat();

 private:
  sys::Loop& loop_;
  const std::shared_ptr<Stream> stream_;
  const std::string peer_;
  const std::optional<int> proven_rank_;
  sys::Loop::Handle beat_;
};

// "a message `launch` of 9.0 MiB is larger than 8.0 MiB".
Error TooLarge(const Envelope& message);

}  // namespace muster::channel

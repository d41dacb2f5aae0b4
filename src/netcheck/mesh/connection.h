// SPDX-License-Identifier: Apache-2.0
// One TCP connection of the mesh on the loop: frames in, frames out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sys/file/fd.h"
#include "sys/time/loop.h"
#include "wire/mesh_frame.h"

namespace muster::netcheck {

// Why a conversation ended.
enum class ConnectionEnd {
  kClosed,    // the other end closed it, or is gone
  kNoFrame,   // what came is no frame: unread() begins with it
  kStranger,  // frames of another key
};

// Who sits at this end.
struct ConnectionEnds {
  wire::Signer signer;
  bool dialler = false;
};

// Loop thread only. Callbacks may destroy it; after `end` nothing comes.
class MeshConnection {
 public:
  struct Events {
    std::function<void(const wire::Frame&)> frame;
    std::function<void(ConnectionEnd)> end;
    std::function<void()> drained;                     // what Pour was given
    std::function<void(std::uint64_t bytes)> skipped;  // some of Skip's
  };

  // `fd` is connected and non-blocking. A listener's end expects the handshake
  // before the first frame.
  MeshConnection(sys::Loop& loop, sys::Fd fd, const ConnectionEnds& ends);
  MeshConnection(const MeshConnection&) = delete;
  MeshConnection& operator=(const MeshConnection&) = delete;
  ~MeshConnection();

  // Reads from now on; may be called again, with other events. Without one for
  // frames these are kept.
  void Begin(Events events);
  void Greet();  // the dialler's first bytes
  void Send(const wire::Frame& frame);
  // Bytes that mean nothing, after what was sent so far, in pieces as the
  // kernel takes them; then `drained`. Until then nothing else may be sent.
  void Pour(std::size_t bytes);
  // Counts the next bytes that come instead of reading them; frames go on
  // behind them.
  void Skip(std::uint64_t bytes);
  // Both directions, for the frames from now on.
  void Salt(const std::string& salt);

  int fd() const { return fd_.get(); }
  const std::string& unread() const { return reader_.buffer(); }
  // Bytes not yet taken by the kernel.
  std::size_t unsent() const { return out_.size() + pour_left_; }
  bool open() const { return open_; }

 private:
  void Read();
  void Write();
  bool WriteFrames();  // false: the kernel takes no more
  bool WritePoured();
  void End(ConnectionEnd end);
  void SkipSome();
  void TellSkipped(std::uint64_t bytes) const;
  bool TakeHandshake();  // false: ended, or more is needed
  void TakeFrames();

  sys::Loop& loop_;
  sys::Fd fd_;
  wire::FrameWriter writer_;
  wire::FrameReader reader_;
  std::string out_;
  std::string filler_;  // what is poured, again and again
  std::size_t pour_left_ = 0;
  bool pouring_ = false;  // `drained` is due
  std::uint64_t skip_left_ = 0;
  bool dialler_;
  bool accepted_;
  bool open_ = true;
  Events events_;
  sys::Loop::Handle readable_;
  sys::Loop::Handle writable_;
  sys::Loop::Handle again_;
  // Told to callbacks on the stack that this is gone: they outlive it.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::netcheck

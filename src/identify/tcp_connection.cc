// SPDX-License-Identifier: Apache-2.0
#include "identify/tcp_connection.h"

#include <thread>
#include <utility>

#include "sys/net/net.h"
#include "sys/net/tcp.h"

namespace muster::identify {
namespace {

constexpr std::size_t kFrameHead = 9;  // the head of an HTTP/2 frame

Heard Listen(int fd, std::size_t enough, Deadline deadline) {
  Heard heard;
  while (heard.bytes.size() < enough) {
    const auto came = sys::ReceiveSome(fd, heard.bytes, nullptr, deadline);
    if (!came) {
      heard.closed = came.error().cause() != Cause::kDeadlineExceeded;
      break;
    }
  }
  return heard;
}

}  // namespace

Result<std::unique_ptr<TcpWire>> TcpWire::Connect(const Address& address,
                                                  const Options& options) {
  MUSTER_ASSIGN(auto fd, sys::Dial(address, Deadline::After(options.connect)));
  auto number = Address::Parse(sys::OtherEnd(fd.get()));
  return std::unique_ptr<TcpWire>(
      new TcpWire(std::move(fd), std::move(number).value_or(address), options));
}

Heard TcpWire::Greeting() {
  const sys::Fd fd = std::move(first_);
  return Listen(fd.get(), kFrameHead, Within(options_.greeting));
}

Heard TcpWire::Say(std::string_view bytes, std::size_t enough) {
  const Deadline deadline = Within(options_.answer);
  auto fd = sys::Dial(number_, deadline);
  if (!fd) {
    return {.closed = fd.error().cause() != Cause::kNetTimeoutFiltered};
  }
  if (!sys::SendAll(fd->get(), bytes, {}, deadline)) {
    return {.closed = true};
  }
  return Listen(fd->get(), enough, deadline);
}

std::optional<channel::CallReply> TcpWire::Call(const std::string& method,
                                                const std::string& request) {
  if (!options_.callers) {
    return std::nullopt;
  }
  if (mute_) {
    return mute_;
  }
  if (caller_ == nullptr) {
    caller_ = options_.callers(number_);
  }
  channel::CallReply reply =
      caller_->Call(method, request, Within(options_.call));
  if (reply.code == channel::kCallDeadline ||
      reply.code == channel::kCallUnavailable) {
    mute_ = reply;
  }
  return reply;
}

bool TcpWire::Later() {
  if (options_.again <= Duration::zero()) {
    return false;
  }
  std::this_thread::sleep_for(options_.again);
  // What is asked then has its own time.
  until_ = Deadline::After(options_.call);
  caller_.reset();
  mute_.reset();
  return true;
}

}  // namespace muster::identify

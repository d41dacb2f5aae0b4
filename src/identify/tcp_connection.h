// SPDX-License-Identifier: Apache-2.0
// The wire to one address of the network.
#pragma once

#include <memory>
#include <string>

#include "channel/caller.h"
#include "identify/service_probe.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "sys/file/fd.h"

namespace muster::identify {

class TcpWire : public Wire {
 public:
  struct Options {
    Duration connect = std::chrono::milliseconds(2500);
    Duration greeting = std::chrono::milliseconds(300);
    Duration answer = std::chrono::milliseconds(600);
    Duration call = std::chrono::milliseconds(2500);
    Duration all = std::chrono::seconds(5);  // once connected
    Duration again{};  // until a second look; none if zero
    channel::MakeCaller callers;
  };

  // Connects once. Errors are those of sys::Dial: net-name-resolution,
  // net-wrong-endpoint (refused), net-timeout-filtered. Any thread but the
  // loop's; blocks.
  static Result<std::unique_ptr<TcpWire>> Connect(const Address& address,
                                                  const Options& options);

  // The number that answered: "10.0.0.7:8476".
  const Address& number() const { return number_; }

  Heard Greeting() override;
  Heard Say(std::string_view bytes, std::size_t enough) override;
  std::optional<channel::CallReply> Call(const std::string& method,
                                         const std::string& request) override;
  bool Later() override;

 private:
  TcpWire(sys::Fd fd, Address number, const Options& options)
      : first_(std::move(fd)),
        number_(std::move(number)),
        options_(options),
        until_(Deadline::After(options.all)) {}
  Deadline Within(Duration patience) const {
    return until_.Sooner(Deadline::After(patience));
  }

  sys::Fd first_;
  Address number_;
  Options options_;
  Deadline until_;
  std::unique_ptr<channel::Caller> caller_;
  // A server that did not answer one call is not asked another.
  std::optional<channel::CallReply> mute_;
};

}  // namespace muster::identify

// SPDX-License-Identifier: Apache-2.0
#include "channel/tcp_probe.h"

#include "base/text.h"
#include "sys/net/net.h"
#include "sys/net/tcp.h"

namespace muster::channel {
namespace {

constexpr auto kListen = std::chrono::milliseconds(300);
constexpr std::size_t kEnough = 64;

ProbeResult FromDial(Error error) {
  switch (error.cause()) {
    case Cause::kNetNameResolution:
      return Unlike(ProbeOutcome::kUnresolved, std::move(error));
    case Cause::kNetWrongEndpoint:
      return Unlike(ProbeOutcome::kRefused, std::move(error));
    default:
      return Unlike(ProbeOutcome::kNoAnswer, std::move(error));
  }
}

// The first line of a text protocol, shortened and safe to print.
std::string Line(std::string_view bytes) {
  return Printable(Trim(bytes.substr(0, bytes.find('\n')).substr(0, kEnough)));
}

Error NotMuster(std::string message, const Address& address,
                std::string_view bytes, WallTime at) {
  return Error(Cause::kNetWrongEndpoint, std::move(message))
      .With({.name = "connect.answered",
             .fields = {{"bytes", Printable(bytes.substr(0, kEnough))},
                        {"request", "GET / HTTP/1.0"}},
             .subject = muster::ToString(address),
             .by = "tcp probe",
             .at = at});
}

}  // namespace

Reached Reach(const Address& address, Deadline deadline) {
  auto fd = sys::Dial(address, deadline);
  if (!fd) {
    return {.nobody = FromDial(std::move(fd).error()), .at = {}};
  }
  const auto at = Address::Parse(sys::OtherEnd(fd->get()));
  return {.nobody = std::nullopt, .at = at ? *at : address};
}

bool IsHttp2(std::string_view bytes) {
  return bytes.size() >= 9 && bytes[0] == '\0' && bytes[3] == '\x04' &&
         bytes.substr(5, 4) == std::string_view("\0\0\0\0", 4);
}

std::string NameOfAnswer(std::string_view bytes) {
  if (bytes.starts_with("HTTP/")) {
    return "an HTTP server (`" + Line(bytes) + "`)";
  }
  if (bytes.starts_with("SSH-")) {
    return "an SSH server (`" + Line(bytes) + "`)";
  }
  if (bytes.starts_with("\x15\x03") || bytes.starts_with("\x16\x03")) {
    return "a TLS server";
  }
  if (IsHttp2(bytes)) {
    return "an HTTP/2 or gRPC server";
  }
  return "something (`" + Line(bytes) + "`)";
}

ProbeResult ProbeAgain(const Address& address, Deadline deadline,
                       const sys::Clock& clock) {
  auto fd = sys::Dial(address, deadline);
  if (!fd) {
    return FromDial(std::move(fd).error());
  }
  const auto until = deadline.Sooner(Deadline::After(kListen));
  std::string bytes;
  auto status = sys::SendAll(fd->get(), "GET / HTTP/1.0\r\n\r\n", {}, until);
  // An HTTP/2 server speaks in frames of nine bytes and more.
  while (status && bytes.size() < 9) {
    status = sys::ReceiveSome(fd->get(), bytes, nullptr, until);
  }
  if (!bytes.empty()) {
    return Unlike(
        ProbeOutcome::kForeign,
        NotMuster(NameOfAnswer(bytes) + " responds at this address, not muster",
                  address, bytes, clock.WallNow()));
  }
  if (!status && status.error().cause() == Cause::kPeerDied) {
    return Unlike(ProbeOutcome::kForeign,
                  NotMuster("a server that is not muster accepts connections "
                            "and closes them immediately",
                            address, bytes, clock.WallNow()));
  }
  return Unlike(ProbeOutcome::kSilent,
                NotMuster("a server accepts connections but sends nothing: it "
                          "is not muster, or muster is suspended",
                          address, bytes, clock.WallNow()));
}

}  // namespace muster::channel

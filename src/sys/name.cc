// SPDX-License-Identifier: Apache-2.0
#include "sys/name.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "base/mutex.h"
#include "base/text.h"
#include "sys/clock.h"

namespace muster::sys {
namespace {

std::string ErrorName(int code) {
  switch (code) {
    case EAI_NONAME:
      return "EAI_NONAME";
    case EAI_AGAIN:
      return "EAI_AGAIN";
    case EAI_FAIL:
      return "EAI_FAIL";
    case EAI_NODATA:
      return "EAI_NODATA";
    case EAI_MEMORY:
      return "EAI_MEMORY";
    case EAI_SYSTEM:
      return "EAI_SYSTEM";
    default:
      return "EAI " + std::to_string(code);
  }
}

Error Unresolved(const std::string& host, std::string code, std::string text) {
  std::string message = "`" + Printable(host) + "` does not resolve: " + text;
  return Error(Cause::kNetNameResolution, std::move(message))
      .With(Fact{.name = "name.unresolved",
                 .fields = {{"name", host},
                            {"error", std::move(code)},
                            {"text", std::move(text)}},
                 .subject = host,
                 .by = "name resolution",
                 .at = RealClock().WallNow()});
}

std::vector<SocketAddress> TakeList(addrinfo* list, std::uint16_t port) {
  std::vector<SocketAddress> addresses;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    SocketAddress address;
    std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
    address.length = one->ai_addrlen;
    address.set_port(port);
    addresses.push_back(address);
  }
  if (list != nullptr) {
    freeaddrinfo(list);
  }
  return addresses;
}

addrinfo Hints(int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  return hints;
}

// A question to the resolver that libc's own thread works on. getaddrinfo(3)
// has no deadline, and a black-holed name server holds it for half a minute.
struct Question {
  std::string host;
  addrinfo hints = Hints(0);
  gaicb request{};

  // Gives up; false when libc still works on it and needs its memory.
  bool Abandon() {
    if (gai_cancel(&request) == EAI_NOTCANCELED) {
      return false;
    }
    if (request.ar_result != nullptr) {
      freeaddrinfo(request.ar_result);
    }
    return true;
  }
};

// Questions that were given up but not answered yet.
void Keep(std::unique_ptr<Question> question) {
  static auto* mutex = new Mutex;
  static auto* kept = new std::vector<std::unique_ptr<Question>>;
  const MutexLock lock(*mutex);
  std::erase_if(*kept, [](const auto& one) { return one->Abandon(); });
  kept->push_back(std::move(question));
}

Result<std::vector<SocketAddress>> Ask(const Address& address,
                                       Deadline deadline) {
  auto question = std::make_unique<Question>();
  question->host = address.host;
  question->request.ar_name = question->host.c_str();
  question->request.ar_request = &question->hints;
  gaicb* list[] = {&question->request};
  int code = getaddrinfo_a(GAI_NOWAIT, list, 1, nullptr);
  while (code == 0 && (code = gai_error(list[0])) == EAI_INPROGRESS) {
    if (deadline.Expired()) {
      if (!question->Abandon()) {
        Keep(std::move(question));
      }
      return Unresolved(address.host, "no answer",
                        "the name service gave no answer in time");
    }
    const auto remaining = deadline.Remaining();
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(remaining);
    timespec timeout{};
    timeout.tv_sec = seconds.count();
    timeout.tv_nsec = (remaining - seconds).count();
    gai_suspend(list, 1, &timeout);
    code = 0;
  }
  if (code != 0) {
    return Unresolved(address.host, ErrorName(code), gai_strerror(code));
  }
  return TakeList(question->request.ar_result, address.port);
}

}  // namespace

std::string SocketAddress::Text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* number =
      family() == AF_INET6
          ? static_cast<const void*>(
                &reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr)
          : &reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr;
  inet_ntop(family(), number, text.data(), text.size());
  return ToText(Address{.host = text.data(), .port = port()});
}

std::uint16_t SocketAddress::port() const {
  // Both families have it at the same place.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

void SocketAddress::set_port(std::uint16_t port) {
  reinterpret_cast<sockaddr_in*>(&storage)->sin_port = htons(port);
}

Result<std::vector<SocketAddress>> Resolve(const Address& address,
                                           Deadline deadline) {
  const addrinfo hints = Hints(AI_NUMERICHOST);
  addrinfo* list = nullptr;
  if (getaddrinfo(address.host.c_str(), nullptr, &hints, &list) == 0) {
    return TakeList(list, address.port);
  }
  return Ask(address, deadline);
}

}  // namespace muster::sys

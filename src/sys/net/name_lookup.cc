// SPDX-License-Identifier: Apache-2.0
#include "sys/net/name_lookup.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/text.h"
#include "sys/time/clock.h"

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
                 .at = RealClock().EventNow()});
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

// A question to the resolver, on a thread of its own: getaddrinfo(3) has no
// deadline, and a black-holed name server holds it for half a minute. (libc's
// getaddrinfo_a makes a thread that a sanitizer does not know of.) Shared by
// that thread and who waits; the last one frees it.
struct Lookup {
  ~Lookup() {
    if (list != nullptr) {
      freeaddrinfo(list);
    }
  }

  std::string host;
  Mutex mutex;
  CondVar answered;
  bool done MUSTER_GUARDED_BY(mutex) = false;
  int code MUSTER_GUARDED_BY(mutex) = 0;
  addrinfo* list MUSTER_GUARDED_BY(mutex) = nullptr;
};

void Answer(Lookup& question) {
  const addrinfo hints = Hints(0);
  addrinfo* list = nullptr;
  const int code = getaddrinfo(question.host.c_str(), nullptr, &hints, &list);
  const MutexLock lock(question.mutex);
  question.code = code;
  question.list = code == 0 ? list : nullptr;
  question.done = true;
  question.answered.NotifyAll();
}

Result<std::vector<SocketAddress>> Ask(const Address& address,
                                       Deadline deadline) {
  auto question = std::make_shared<Lookup>();
  question->host = address.host;
  try {
    std::thread([question] { Answer(*question); }).detach();
  } catch (const std::system_error& error) {
    return Error(Cause::kOsLimit, "cannot start a thread to resolve `" +
                                      Printable(address.host) +
                                      "`: " + error.what());
  }
  const MutexLock lock(question->mutex);
  while (!question->done) {
    if (!question->answered.WaitUntil(question->mutex, deadline.when()) &&
        !question->done) {
      return Unresolved(address.host, "no answer",
                        "the name service did not respond in time");
    }
  }
  if (question->code != 0) {
    return Unresolved(address.host, ErrorName(question->code),
                      gai_strerror(question->code));
  }
  return TakeList(std::exchange(question->list, nullptr), address.port);
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
  // How a socket of both families writes an address of IPv4.
  constexpr std::string_view kMapped = "::ffff:";
  std::string host = text.data();
  if (host.starts_with(kMapped) && host.find('.') != std::string::npos) {
    host.erase(0, kMapped.size());
  }
  return ToString(Address{.host = std::move(host), .port = port()});
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

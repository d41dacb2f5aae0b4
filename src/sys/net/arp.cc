// SPDX-License-Identifier: Apache-2.0
#include "sys/net/arp.h"

#include <arpa/inet.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "sys/file/fd.h"

namespace muster::sys {
namespace {

// Of one answer of the kernel; a table is told in several.
constexpr std::size_t kAnswerSize = 32U << 10;

struct ArpRequest {
  nlmsghdr head;
  ndmsg about;
};

bool Ask(int fd) {
  ArpRequest question{};
  question.head.nlmsg_len = sizeof question;
  question.head.nlmsg_type = RTM_GETNEIGH;
  question.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.about.ndm_family = AF_INET;
  return send(fd, &question, sizeof question, 0) ==
         static_cast<ssize_t>(sizeof question);
}

// Copies what `bytes` begin with; nullopt: they are too few.
template <typename T>
std::optional<T> Begin(std::string_view bytes) {
  if (bytes.size() < sizeof(T)) {
    return std::nullopt;
  }
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// The kernel counts in hundredths of a second.
Duration AgeOf(const nda_cacheinfo& cache) {
  return std::chrono::milliseconds(10) * std::int64_t{cache.ndm_confirmed};
}

// A row of the table, without its head.
void TakeRow(std::string_view bytes, Duration within,
             std::map<std::string, Neighbor>& neighbors) {
  const auto about = Begin<ndmsg>(bytes);
  if (!about) {
    return;
  }
  std::string number;
  std::optional<nda_cacheinfo> cache;
  bytes.remove_prefix(NLMSG_ALIGN(sizeof(ndmsg)));
  while (const auto head = Begin<rtattr>(bytes)) {
    if (head->rta_len < sizeof(rtattr) || head->rta_len > bytes.size()) {
      break;
    }
    const auto value =
        bytes.substr(RTA_LENGTH(0), head->rta_len - RTA_LENGTH(0));
    std::array<char, INET_ADDRSTRLEN> text{};
    if (head->rta_type == NDA_DST && value.size() == sizeof(in_addr) &&
        inet_ntop(AF_INET, value.data(), text.data(), text.size()) != nullptr) {
      number = text.data();
    } else if (head->rta_type == NDA_CACHEINFO) {
      cache = Begin<nda_cacheinfo>(value);
    }
    bytes.remove_prefix(
        std::min<std::size_t>(bytes.size(), RTA_ALIGN(head->rta_len)));
  }
  constexpr int kLearnt = NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE;
  if (number.empty()) {
    return;
  }
  if ((about->ndm_state & (NUD_INCOMPLETE | NUD_FAILED)) != 0) {
    neighbors[number] = Neighbor::kSilent;
  } else if ((about->ndm_state & kLearnt) != 0 && cache &&
             AgeOf(*cache) <= within) {
    neighbors[number] = Neighbor::kAnswers;
  }
}

// False: the last row was among them.
bool TakeRows(std::string_view bytes, Duration within,
              std::map<std::string, Neighbor>& neighbors) {
  while (const auto head = Begin<nlmsghdr>(bytes)) {
    if (head->nlmsg_len < sizeof(nlmsghdr) || head->nlmsg_len > bytes.size() ||
        head->nlmsg_type == NLMSG_DONE || head->nlmsg_type == NLMSG_ERROR) {
      return false;
    }
    if (head->nlmsg_type == RTM_NEWNEIGH) {
      TakeRow(bytes.substr(NLMSG_HDRLEN, head->nlmsg_len - NLMSG_HDRLEN),
              within, neighbors);
    }
    bytes.remove_prefix(
        std::min<std::size_t>(bytes.size(), NLMSG_ALIGN(head->nlmsg_len)));
  }
  return true;
}

}  // namespace

std::map<std::string, Neighbor> ArpTable(Duration within) {
  std::map<std::string, Neighbor> neighbors;
  // What the kernel tells is there when the question was sent.
  const Fd fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
                     NETLINK_ROUTE));
  if (!fd || !Ask(fd.get())) {
    return neighbors;
  }
  std::string answer(kAnswerSize, '\0');
  while (true) {
    const ssize_t got = recv(fd.get(), answer.data(), answer.size(), 0);
    if (got <= 0 || !TakeRows({answer.data(), static_cast<std::size_t>(got)},
                              within, neighbors)) {
      return neighbors;
    }
  }
}

}  // namespace muster::sys

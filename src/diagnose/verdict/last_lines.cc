// SPDX-License-Identifier: Apache-2.0
#include "diagnose/verdict/last_lines.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text.h"

namespace muster::diagnose {
namespace {

// Lower case. From Gloo, NCCL, gRPC, TensorFlow's and JAX's coordination
// services, torch's store, and libmuster.
constexpr std::string_view kPeerIsGone[] = {
    "connection closed by peer",
    "connection closed by remote peer",
    "connection reset by peer",
    "socket closed",
    "broken pipe",
    "unavailable:",
    "unavailableerror",
    "recvmsg:",
    "remote process exited",
    "ncclremoteerror",
    "nccl watchdog",
    "watchdog caught collective operation timeout",
    "watchdog thread terminated",
    "heartbeat",
    "gloo connectfullmesh failed",
    "gloo/transport/tcp/pair.cc",
    "timed out waiting",
    "failed to recv, got 0 bytes",
    "the client socket has failed to connect",
    "tasks have crashed",
    "task has failed, got preempted",
    "collective ops is aborted",
    "aborting ringreduce",
    "error[peer-died]",
    "peer-died:",
};

std::string_view WithoutRankPrefix(std::string_view line) {
  // torch writes "[rank0]: " before each line.
  if (line.starts_with("[rank")) {
    const auto end = line.find("]: ");
    if (end != std::string_view::npos) {
      line.remove_prefix(end + 3);
    }
  }
  return line;
}

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         c == '.';
}

// "torch.cuda.OutOfMemoryError: …", "AssertionError".
bool LooksLikeAnException(std::string_view line) {
  const auto* end = std::find_if_not(line.begin(), line.end(), IsWord);
  const std::string_view name(line.begin(), end);
  const bool named = name.ends_with("Error") || name.ends_with("Exception") ||
                     name.ends_with("Interrupt") || name.ends_with("Exit") ||
                     name.ends_with("Failure");
  return named && (end == line.end() || *end == ':');
}

// The exceptions among the lines, oldest first.
std::vector<std::string_view> Exceptions(std::span<const std::string> lines) {
  std::vector<std::string_view> found;
  bool in_traceback = false;
  for (const std::string& whole : lines) {
    const auto line = WithoutRankPrefix(whole);
    if (line.starts_with("Traceback (most recent call last)")) {
      in_traceback = true;
    } else if (in_traceback && !line.empty() && line[0] != ' ') {
      found.push_back(line);
      in_traceback = false;
    } else if (LooksLikeAnException(line) ||
               Trim(line).starts_with("what():")) {
      found.push_back(Trim(line));
    }
  }
  return found;
}

}  // namespace

bool SaysPeerIsGone(std::string_view line) {
  const std::string lower = Lower(line);
  return std::any_of(std::begin(kPeerIsGone), std::end(kPeerIsGone),
                     [&](std::string_view phrase) {
                       return lower.find(phrase) != std::string::npos;
                     });
}

std::string DecisiveLine(std::span<const std::string> lines) {
  const auto exceptions = Exceptions(lines);
  if (!exceptions.empty()) {
    return std::string(exceptions.back());
  }
  const auto last =
      std::find_if(lines.rbegin(), lines.rend(),
                   [](const std::string& line) { return !Trim(line).empty(); });
  return last == lines.rend() ? "" : std::string(Trim(*last));
}

bool BlamesAPeer(std::span<const std::string> lines) {
  const auto exceptions = Exceptions(lines);
  if (exceptions.empty()) {
    return std::any_of(lines.begin(), lines.end(), SaysPeerIsGone);
  }
  // The first of a chain is where it began, the last is what ended the program;
  // the message of the last may go on in the lines below it.
  const auto last =
      std::find_if(lines.rbegin(), lines.rend(), [&](const std::string& line) {
        return line.find(exceptions.back()) != std::string::npos;
      });
  return SaysPeerIsGone(exceptions.front()) ||
         std::any_of(lines.rbegin(), last == lines.rend() ? last : last + 1,
                     SaysPeerIsGone);
}

bool HasOwnException(std::span<const std::string> lines) {
  const auto exceptions = Exceptions(lines);
  return !BlamesAPeer(lines) &&
         std::any_of(exceptions.begin(), exceptions.end(),
                     [](std::string_view line) {
                       return line.find("Signal") == line.npos &&
                              line.find("signal") == line.npos &&
                              !line.starts_with("KeyboardInterrupt") &&
                              !line.starts_with("SystemExit");
                     });
}

}  // namespace muster::diagnose

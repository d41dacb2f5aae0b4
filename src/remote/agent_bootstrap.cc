// SPDX-License-Identifier: Apache-2.0
#include "remote/agent_bootstrap.h"

#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "channel/security/sha256.h"
#include "sys/net/stream.h"
#include "sys/terminal/read_line.h"

namespace muster::remote {
namespace {

constexpr std::string_view kSchema = "muster.handed/1";
constexpr std::size_t kMaxBootstrapBytes = 4U << 20;
constexpr std::size_t kMarkDigits = 32;
// Below what a line may have (run::LineSplitter).
constexpr std::size_t kPieceOfReport = 32U << 10;

}  // namespace

std::string ToLine(const AgentBootstrap& handed) {
  Json json{{"schema", kSchema}, {"args", Json::array()}};
  for (const std::string& arg : handed.args) {
    json["args"].push_back(BytesToJson(arg));
  }
  json["token"] = handed.token;
  return DumpAscii(json) + "\n";
}

Result<AgentBootstrap> ReadBootstrapLine(std::string_view line) {
  MUSTER_ASSIGN(const Json json,
                ParseJson(line, Cause::kUsageInvalid, "standard input"));
  AgentBootstrap handed;
  const Error wrong(Cause::kUsageInvalid,
                    "standard input is not from `muster run --start ssh`");
  if (!json.is_object() || json.value("schema", Json()) != kSchema ||
      !json.contains("args") || !json["args"].is_array() ||
      !json.contains("token") || !json["token"].is_string()) {
    return wrong;
  }
  for (const Json& arg : json["args"]) {
    auto bytes = BytesFromJson(arg);
    if (!bytes) {
      return wrong;
    }
    handed.args.push_back(*std::move(bytes));
  }
  handed.token = json["token"].get<std::string>();
  return handed;
}

Result<AgentBootstrap> ReadAgentBootstrap(int fd, Duration silence) {
  std::string line;
  while (line.empty()) {
    MUSTER_ASSIGN(
        line, sys::ReadLine(fd, kMaxBootstrapBytes, Deadline::After(silence)));
  }
  return ReadBootstrapLine(line);
}

std::string ReportMark(const std::string& token) {
  return "muster-report " +
         channel::Sha256Hex("muster report " + token).substr(0, kMarkDigits) +
         " ";
}

std::string ReportLines(const std::string& mark, const std::string& document) {
  std::string lines;
  for (std::size_t at = 0; at < document.size(); at += kPieceOfReport) {
    lines += mark + document.substr(at, kPieceOfReport) + "\n";
  }
  return lines + mark + "\n";
}

StarterWatch::StarterWatch(sys::Loop& loop, int fd, Act act, OnGone gone,
                           Duration silence)
    : loop_(loop),
      fd_(fd),
      act_(std::move(act)),
      gone_(std::move(gone)),
      silence_(silence) {
  readable_ = loop_.OnReadable(fd_, [this] { Read(); });
  Await();
}

void StarterWatch::Await() {
  late_ = loop_.After(silence_, [this] {
    Gone("lost contact with the starting host for " +
         muster::ToString(silence_));
  });
}

void StarterWatch::Read() {
  const auto arrived = sys::ReadNow(fd_, buffer_);
  for (auto end = buffer_.find('\n'); end != std::string::npos;
       end = buffer_.find('\n')) {
    const std::string line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    if (line.starts_with("stop ") || line.starts_with("kill ")) {
      act_(Printable(line.substr(5)), line.starts_with("kill "));
    }
  }
  if (!arrived || *arrived == sys::Arrived::kEnd) {
    Gone("the exit of the starting command");
    return;
  }
  Await();
}

void StarterWatch::Gone(const std::string& why) {
  readable_.Cancel();
  late_.Cancel();
  gone_(why);
}

}  // namespace muster::remote

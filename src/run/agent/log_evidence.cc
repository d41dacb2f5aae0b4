// SPDX-License-Identifier: Apache-2.0
#include "run/agent/log_evidence.h"

#include <csignal>

#include "base/log.h"
#include "base/text.h"
#include "diagnose/match/log_scanner.h"
#include "sys/file/byte_source.h"
#include "sys/file/fs.h"
#include "sys/process/spawner.h"

namespace muster::run {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{8} << 20;
constexpr std::size_t kPiece = std::size_t{256} << 10;

const diagnose::Matcher& CatalogueMatcher() {
  static const diagnose::Matcher matcher;
  return matcher;
}

void ReadTail(const std::string& path, const diagnose::Source& source,
              diagnose::LogScanner& scanner) {
  auto file = sys::ByteSource::OpenTail(path, kMaxBytes);
  if (!file) {
    MUSTER_LOG(kDebug, "could not read the log of a rank",
               {{"error", file.error().ToString()}});
    return;
  }
  scanner.Begin(source);
  std::vector<char> piece(kPiece);
  for (;;) {
    const auto count = file->Read(piece);
    if (!count) {
      MUSTER_LOG(kWarn, "could not read the rest of the log of a rank",
                 {{"error", count.error().ToString()}});
      break;
    }
    if (*count == 0) {
      break;
    }
    scanner.Feed({piece.data(), *count});
  }
  scanner.End();
}

std::string StatusText(const wire::Exit& exit) {
  return exit.signal() ? "-" + std::to_string(*exit.signal())
                       : std::to_string(exit.code());
}

}  // namespace

bool IsWorthReading(int wait_status) {
  wire::Exit exit;
  exit.wait_status = wait_status;
  return wait_status != 0 && exit.signal() != SIGKILL &&
         exit.signal() != SIGTERM;
}

std::vector<Fact> ReadRankLogs(const std::string& directory, int rank,
                               int wait_status) {
  diagnose::LogScanner scanner(CatalogueMatcher());
  for (const char* stream : {".err", ".out"}) {
    const std::string name = "rank" + std::to_string(rank) + stream;
    ReadTail(sys::JoinPath(directory, name), {.name = name, .rank = rank},
             scanner);
  }
  std::vector<Fact> facts = scanner.TakeFacts();
  wire::Exit exit;
  exit.wait_status = wait_status;
  Fact status = diagnose::ExitFact(StatusText(exit));
  status.fields["rank"] = std::int64_t{rank};
  facts.push_back(std::move(status));
  return facts;
}

}  // namespace muster::run

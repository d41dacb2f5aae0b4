// SPDX-License-Identifier: Apache-2.0
#include "run/agent/rank_output.h"

#include "base/log.h"
#include "sys/net/stream.h"

namespace muster::run {
namespace {

// Of one pipe at a time, so that a rank that writes without end does not keep
// the loop from others.
constexpr int kReadsAtOnce = 16;

}  // namespace

RankOutput::RankOutput(sys::Loop& loop, sys::Clock& clock, sys::Fd pipe,
                       Options options)
    : clock_(clock),
      pipe_(std::move(pipe)),
      options_(std::move(options)),
      shown_([this](std::string_view line) {
        options_.console->WriteOutput(
            options_.stream, options_.prefix + std::string(line) + "\n");
      }),
      kept_([this](std::string_view line) { TakeLine(line); }) {
  readable_ = loop.OnReadable(pipe_.get(), [this] {
    for (int i = 0; i < kReadsAtOnce && Receive(); ++i) {
    }
  });
}

// One read; false when nothing is there or the pipe is over.
bool RankOutput::Receive() {
  if (!pipe_) {
    return false;
  }
  std::string bytes;
  const auto arrived = sys::ReadNow(pipe_.get(), bytes);
  Take(bytes);
  if (!arrived || *arrived == sys::Arrived::kEnd) {
    readable_.Cancel();
    pipe_.Close();
    return false;
  }
  return *arrived == sys::Arrived::kSome;
}

void RankOutput::Take(std::string_view bytes) {
  if (bytes.empty()) {
    return;
  }
  if (options_.file) {
    const auto written = options_.file->Append(bytes);
    if (!written) {
      options_.file.reset();  // a file with holes would be worse than none
      options_.on_file_error(written.error());
    }
  }
  if (options_.console != nullptr && options_.prefix.empty()) {
    options_.console->WriteOutput(options_.stream, bytes);
  } else if (options_.console != nullptr) {
    shown_.Feed(bytes, clock_.Now());
  }
  kept_.Feed(bytes, clock_.Now());
}

void RankOutput::TakeLine(std::string_view line) {
  last_lines_.push_back(PlainText(line, kKeptBytes));
  if (last_lines_.size() > kKeptLines) {
    last_lines_.pop_front();
  }
}

void RankOutput::Drain() {
  // As much as a pipe may hold at most, however fast it is filled again.
  for (int i = 0; i < kReadsAtOnce && Receive(); ++i) {
  }
}

void RankOutput::Finish() {
  Drain();
  readable_.Cancel();
  pipe_.Close();
  shown_.Finish();
  kept_.Finish();
}

std::vector<std::string> RankOutput::LastLines() const {
  std::vector<std::string> lines(last_lines_.begin(), last_lines_.end());
  if (!kept_.rest().empty()) {
    lines.push_back(PlainText(kept_.rest(), kKeptBytes));
  }
  if (lines.size() > kKeptLines) {
    lines.erase(lines.begin());
  }
  return lines;
}

}  // namespace muster::run

// SPDX-License-Identifier: Apache-2.0
#include "diagnose/read/inputs.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>

#include "diagnose/match/log_scanner.h"
#include "diagnose/read/byte_sink.h"
#include "sys/file/byte_source.h"
#include "sys/file/fs.h"

namespace muster::diagnose {
namespace {

constexpr std::size_t kReadPiece = 1U << 20;
constexpr std::size_t kMaxInputs = 20'000;

// What a folder may hold beside logs, and nobody wants to read.
bool IsNoLog(std::string_view path) {
  constexpr std::string_view kEndings[] = {
      ".pt",  ".pth",      ".ckpt", ".bin",   ".safetensors", ".npz",
      ".npy", ".png",      ".jpg",  ".pdf",   ".so",          ".pyc",
      ".h5",  ".tfrecord", ".pb",   ".arrow", ".parquet"};
  return path.find("/.git/") != std::string_view::npos ||
         path.find("events.out.tfevents") != std::string_view::npos ||
         std::any_of(
             std::begin(kEndings), std::end(kEndings),
             [&](std::string_view ending) { return path.ends_with(ending); });
}

class Reader {
 public:
  Reader(const InputOptions& options, const Matcher& matcher)
      : options_(options), scanner_(matcher) {
    unpacking_.scanner = &scanner_;
    if (options_.rank_from) {
      unpacking_.rank_from = &*options_.rank_from;
    }
    unpacking_.notes = &reading_.unread;
    unpacking_.skipped = &reading_.skipped;
    unpacking_.read = &read_;
    unpacking_.reported = &reading_.reported;
    unpacking_.ends = &ends_;
    unpacking_.budget = &budget_;
    budget_.clock = options_.clock;
    budget_.cpu = options_.max_cpu;
  }

  void Take(const std::string& input) {
    if (input == "-") {
      Stream(sys::ByteSource::Stdin(), "-", false);
    } else if (sys::KindOf(input) == sys::PathKind::kDirectory) {
      Folder(input);
    } else {
      Opened(sys::ByteSource::OpenFile(input), input, false);
    }
  }

  Result<Reading> Finish() {
    if (reading_.files == 0) {
      return failed_ ? std::move(*failed_) : NothingRead();
    }
    reading_.facts = scanner_.TakeFacts();
    std::move(ends_.begin(), ends_.end(), std::back_inserter(reading_.facts));
    return std::move(reading_);
  }

 private:
  void Folder(const std::string& path) {
    const std::uint64_t before = read_;
    const std::size_t unread = reading_.unread.size();
    const sys::FileList list = sys::FilesBelow(path, kMaxInputs);
    if (!list.cut.empty()) {
      reading_.unread.push_back(path + ": " + list.cut);
    }
    for (const std::string& folder : list.refused) {
      Failed(sys::FromErrno("open", folder, EACCES));
    }
    for (const std::string& file : list.paths) {
      if (IsNoLog(file)) {
        reading_.skipped.push_back(file + ": not a log, skipped");
      } else {
        Opened(sys::ByteSource::OpenBelow(path, file), file, true);
      }
    }
    if (read_ == before && reading_.unread.size() == unread) {
      reading_.unread.push_back(path + (list.paths.empty()
                                            ? ": it contains no files"
                                            : ": it contains no text logs"));
    }
  }

  // Of inputs that could be opened and gave nothing.
  Error NothingRead() const {
    const auto& unread = reading_.unread;
    return Error(
        Cause::kUsageInvalid,
        "nothing to read" + (unread.empty() ? "" : ": " + unread.front()));
  }

  void Opened(Result<sys::ByteSource> source, const std::string& path,
              bool only_text) {
    if (!source) {
      Failed(std::move(source).error());
      return;
    }
    Stream(*std::move(source), path, only_text);
  }

  void Stream(sys::ByteSource source, const std::string& name, bool only_text) {
    unpacking_.only_text = only_text;
    const std::uint64_t before = read_;
    const std::size_t unread = reading_.unread.size();
    const auto unpacker = MakeUnpacker(name, unpacking_);
    std::uint64_t bytes = 0;
    for (;;) {
      auto count = source.Read(piece_);
      if (!count) {
        Failed(std::move(count).error());
        break;
      }
      if (*count == 0) {
        break;
      }
      bytes += *count;
      unpacker->Feed({piece_.data(), *count});
    }
    unpacker->End();
    if (read_ > before) {
      ++reading_.files;
    } else if (!only_text && reading_.unread.size() == unread) {
      reading_.unread.push_back(
          name + (bytes == 0 ? ": it is empty" : ": it contains no text"));
    }
  }

  void Failed(Error error) {
    reading_.unread.push_back(error.message());
    if (!failed_) {
      failed_ = std::move(error);
    }
  }

  const InputOptions& options_;
  LogScanner scanner_;
  Unpacking unpacking_;
  Budget budget_;
  Reading reading_;
  std::uint64_t read_ = 0;  // bytes of text and reports
  std::vector<Fact> ends_;  // of runs whose reports were read
  std::optional<Error> failed_;
  std::vector<char> piece_ = std::vector<char>(kReadPiece);
};

}  // namespace

Result<Reading> ReadInputs(std::span<const std::string> inputs,
                           const InputOptions& options,
                           const Matcher& matcher) {
  Reader reader(options, matcher);
  for (const std::string& input : inputs) {
    reader.Take(input);
  }
  return reader.Finish();
}

}  // namespace muster::diagnose

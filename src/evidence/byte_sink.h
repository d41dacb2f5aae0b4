// SPDX-License-Identifier: Apache-2.0
// Where bytes go that were unpacked: one stage of a chain.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::evidence {

class LogScanner;

// One stage; the bytes of one stream, in pieces of any size, then End. One
// thread.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void Feed(std::string_view bytes) = 0;
  virtual void End() = 0;
};

// What a chain ends in and what it may not exceed.
struct Unpacking {
  LogScanner* scanner = nullptr;
  // With one group that is the rank, tried on names of files; may be empty.
  std::string rank_from;
  int depth = 0;  // archives around this stream
  // Set for files that nobody named one by one: what is no text is skipped.
  bool only_text = false;
  std::vector<std::string>* notes = nullptr;  // what was skipped, and why
};

// Looks at the first bytes and passes the stream to what can read it: gzip,
// zstd, tar, zip, a Kaggle log, a notebook, UTF-16, or text.
std::unique_ptr<ByteSink> MakeUnpacker(std::string name,
                                       const Unpacking& unpacking);

// Stages. `next` gets the unpacked bytes; a damaged stream ends early, with a
// note.
std::unique_ptr<ByteSink> MakeGunzip(std::string name,
                                     const Unpacking& unpacking);
std::unique_ptr<ByteSink> MakeUnzstd(std::string name,
                                     const Unpacking& unpacking);
std::unique_ptr<ByteSink> MakeUntar(std::string name,
                                    const Unpacking& unpacking);
std::unique_ptr<ByteSink> MakeUnzip(std::string name,
                                    const Unpacking& unpacking);
// A JSON array of {"stream_name", "time", "data"}, or a notebook with outputs.
std::unique_ptr<ByteSink> MakeJsonText(std::string name,
                                       const Unpacking& unpacking);
std::unique_ptr<ByteSink> MakeUtf16(std::string name, bool little_endian,
                                    const Unpacking& unpacking);
std::unique_ptr<ByteSink> MakeText(std::string name,
                                   const Unpacking& unpacking);

// "rank3.err", "worker-3.log", "log_3.out": 3; -1: none.
int RankOfName(std::string_view name, const std::string& rank_from);

}  // namespace muster::evidence

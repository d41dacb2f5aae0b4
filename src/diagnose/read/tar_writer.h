// SPDX-License-Identifier: Apache-2.0
// A gzipped tar archive (POSIX ustar) made in memory, file by file. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "muster/error.h"
#include "muster/fact.h"

namespace muster::diagnose {

class TarWriter {
 public:
  TarWriter();
  ~TarWriter();
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;

  // `name` is relative; what is longer than the format takes (255 bytes) is cut
  // at its front.
  void Add(std::string_view name, std::string_view bytes, WallTime at);
  // The whole archive; nothing can be added after it. Error: oom-host, no
  // memory for the compression.
  Result<std::string> Finish();

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace muster::diagnose

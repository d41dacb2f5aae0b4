// SPDX-License-Identifier: Apache-2.0
// Event files: what TensorBoard reads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "muster/error.h"
#include "muster/fact.h"
#include "sys/file/fs.h"

namespace muster::monitor {

struct Scalar {
  std::string_view tag;  // "loss"
  double value = 0;      // kept as a 32-bit float
};

// One file of scalars, in the format of TensorFlow's summaries: records (length
// and data, each with a masked CRC-32C) of Event messages. One thread at a
// time.
class EventFile {
 public:
  // Makes DIRECTORY/events.out.tfevents.SECONDS.HOST; errors are those of Fs.
  static Result<std::unique_ptr<EventFile>> Open(sys::Fs& fs,
                                                 const std::string& directory,
                                                 const std::string& host,
                                                 WallTime at);
  // Values of one step. A reader sees them at once.
  Status Write(WallTime at, std::int64_t step, std::span<const Scalar> scalars);

  const std::string& path() const { return path_; }

 private:
  EventFile(std::string path, std::unique_ptr<sys::Appender> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  std::unique_ptr<sys::Appender> file_;
};

// The bytes of one record around `data`.
std::string EventRecord(std::string_view data);

}  // namespace muster::monitor

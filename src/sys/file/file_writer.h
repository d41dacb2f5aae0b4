// SPDX-License-Identifier: Apache-2.0
// Writing a large file piece by piece, and making it durable.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "muster/error.h"
#include "sys/file/fd.h"

namespace muster::sys {

// A new file. What was appended is on the disk after Finish; a writer that goes
// without it leaves the file as far as it was written. One thread.
// Errors: file-permission, disk-full, file-missing, as Fs.
class FileWriter {
 public:
  // The file must not exist.
  static Result<FileWriter> Create(const std::string& path);

  Status Append(std::span<const std::byte> bytes);
  Status Append(std::string_view text);
  // Writes out, syncs and closes.
  Status Finish();

 private:
  FileWriter(Fd fd, std::string path);
  Status WriteOut(std::span<const std::byte> bytes);

  Fd fd_;
  std::string path_;
  std::string pending_;  // small pieces, written together
};

// Makes what was written durable; a file system that cannot does what it can.
Status Sync(int fd, const std::string& path);
// The same for the names in a directory.
Status SyncDirectory(const std::string& path);

}  // namespace muster::sys

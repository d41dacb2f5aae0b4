// SPDX-License-Identifier: Apache-2.0
// Bytes of a file or pipe, read in pieces.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "muster/error.h"
#include "sys/file/fd.h"
#include "sys/file/open_file.h"

namespace muster::sys {

// One thread at a time.
class ByteSource {
 public:
  // A file, or a pipe that the user has named; deadline-exceeded where one is
  // silent for 10 s. file-missing, file-permission and so on, as Fs.
  static Result<ByteSource> OpenFile(const std::string& path);
  // A regular file that FilesBelow found in `directory`. usage-invalid: it is a
  // symbolic link, or lies behind one, that leads out of the directory.
  static Result<ByteSource> OpenBelow(const std::string& directory,
                                      const std::string& file);
  // Only its last `bytes`, or all of a shorter one.
  static Result<ByteSource> OpenTail(const std::string& path,
                                     std::size_t bytes);
  // Standard input; it is not closed.
  static ByteSource Stdin();

  ByteSource(ByteSource&&) = default;
  ByteSource& operator=(ByteSource&&) = default;
  ~ByteSource();

  // How many bytes were read; 0: the end.
  Result<std::size_t> Read(std::span<char> into);

 private:
  ByteSource(Fd fd, bool owned, std::string name);
  FileReader reader_;
  bool owned_ = true;
  std::string name_;
};

enum class PathKind { kNothing, kFile, kDirectory, kOther };
// Symbolic links are followed. kOther: a device, a socket; a FIFO is kFile.
PathKind KindOf(const std::string& path);

// The files below a directory, at most `limit`; symbolic links to directories
// are not followed.
struct FileList {
  std::vector<std::string> paths;    // sorted
  std::vector<std::string> refused;  // folders that may not be read, sorted
  std::string cut;  // why else these are not all; empty: they are
};
FileList FilesBelow(const std::string& directory, std::size_t limit);

}  // namespace muster::sys

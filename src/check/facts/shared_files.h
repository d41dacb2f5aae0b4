// SPDX-License-Identifier: Apache-2.0
// What should be the same on every host, and where hosts should see each
// other's files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "check/context.h"
#include "sys/file/temp_file.h"

namespace muster::check {

// Digests of the command's files and of the data, named as in a MeshRow.
struct SharedFiles {
  std::map<std::string, std::string> digests;
  std::vector<std::string> seen;      // "train.py 1.2 KiB"
  std::vector<std::string> left_out;  // and why
};
// Within two seconds for all; of what is larger than 64 MiB the ends are read.
// May wait for a disk.
SharedFiles DigestSharedFiles(const Context& context);

// Where each folder of checkpoints is, as the others read it in a MeshRow:
// "place /mnt/ck" -> kServedPlace or kOwnPlace. May wait for a disk.
std::map<std::string, std::string> CheckpointPlaces(const Context& context);

// A small file in each folder of checkpoints that is there, for others to look
// for; gone with this, and with a process that is ended. May wait for a disk;
// made in a process that has one thread.
class CheckpointMarks {
 public:
  explicit CheckpointMarks(const Context& context);
  ~CheckpointMarks();
  CheckpointMarks(const CheckpointMarks&) = delete;
  CheckpointMarks& operator=(const CheckpointMarks&) = delete;

  // Tells them from those of others; empty: none was written.
  std::string mark() const { return written_.empty() ? "" : mark_; }
  const std::vector<std::string>& written() const { return written_; }
  // The folders in which the mark of another is not seen. Any thread.
  std::vector<std::string> Unseen(const std::string& mark) const;

 private:
  sys::Fs& fs_;
  std::vector<std::string> folders_;
  std::string mark_;
  std::vector<std::string> written_;  // folders
  std::vector<sys::RemovedAtEnd> leaving_;
};

}  // namespace muster::check

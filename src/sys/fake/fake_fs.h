// SPDX-License-Identifier: Apache-2.0
// Fs of tests; linked by them alone.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sys/file/fs.h"

namespace muster::sys {

// For tests: files in a map; `fail` makes an operation on a path fail. The
// directories of files that a test puts into the map exist by that.
class FakeFs : public Fs {
 public:
  std::map<std::string, std::string> files;
  std::set<std::string> directories;
  std::map<std::string, Cause> fail;  // path -> cause of every operation on it

  Result<std::string> Read(const std::string& path,
                           std::size_t limit = 1U << 30) const override;
  Status Write(const std::string& path, std::string_view bytes) override;
  Result<std::unique_ptr<Appender>> OpenAppender(
      const std::string& path) override;
  Status MakeDirectories(const std::string& path,
                         Access access = Access::kByUmask) override;
  Result<std::vector<std::string>> List(const std::string& path) const override;
  bool Exists(const std::string& path) const override;
  Status Remove(const std::string& path) override;
  Status RemoveRecursively(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Link(const std::string& target, const std::string& path) override;

 private:
  bool IsDirectory(const std::string& path) const;
  bool HasEntries(const std::string& directory) const;
  Status CheckWritable(const std::string& path) const;
};

}  // namespace muster::sys

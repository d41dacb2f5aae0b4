// SPDX-License-Identifier: Apache-2.0
// The file system of tests: says what the real one would say.
#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "sys/fake/fake_fs.h"

namespace muster::sys {
namespace {

std::string Parent(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

Status Asked(const std::map<std::string, Cause>& fail,
             const std::string& path) {
  auto found = fail.find(path);
  if (found == fail.end()) {
    return Ok();
  }
  return Error(found->second, "`" + path + "` fails as the test asked");
}

class FakeAppender : public Appender {
 public:
  FakeAppender(FakeFs& fs, std::string path)
      : fs_(fs), path_(std::move(path)) {}
  Status Append(std::string_view bytes) override {
    MUSTER_TRY(Asked(fs_.fail, path_));
    fs_.files[path_] += bytes;
    return Ok();
  }
  Status Sync() override { return Asked(fs_.fail, path_); }

 private:
  FakeFs& fs_;
  std::string path_;
};

}  // namespace

bool FakeFs::HasEntries(const std::string& directory) const {
  const std::string prefix = directory == "/" ? "/" : directory + "/";
  const auto inside = [&](const std::string& path) {
    return path.starts_with(prefix) && path.size() > prefix.size();
  };
  return std::any_of(files.begin(), files.end(),
                     [&](const auto& file) { return inside(file.first); }) ||
         std::any_of(directories.begin(), directories.end(), inside);
}

bool FakeFs::IsDirectory(const std::string& path) const {
  return path == "/" || directories.contains(path) || HasEntries(path);
}

// That a file can be made or replaced at `path`.
Status FakeFs::CheckWritable(const std::string& path) const {
  MUSTER_TRY(Asked(fail, path));
  if (IsDirectory(path)) {
    return FromErrno("open", path, EISDIR);
  }
  const std::string parent = Parent(path);
  if (!IsDirectory(parent)) {
    return FromErrno("open", path, files.contains(parent) ? ENOTDIR : ENOENT);
  }
  return Ok();
}

Result<std::string> FakeFs::Read(const std::string& path,
                                 std::size_t limit) const {
  MUSTER_TRY(Asked(fail, path));
  auto found = files.find(path);
  if (found == files.end()) {
    return FromErrno("open", path, IsDirectory(path) ? EISDIR : ENOENT);
  }
  if (found->second.size() > limit) {
    return Error(
        Cause::kFileCorrupt,
        "`" + path + "` is larger than the limit of " + BytesText(limit));
  }
  return found->second;
}

Status FakeFs::Write(const std::string& path, std::string_view bytes) {
  MUSTER_TRY(CheckWritable(path));
  files[path] = bytes;
  return Ok();
}

Result<std::unique_ptr<Appender>> FakeFs::OpenAppender(
    const std::string& path) {
  MUSTER_TRY(CheckWritable(path));
  files.try_emplace(path);
  return std::unique_ptr<Appender>(std::make_unique<FakeAppender>(*this, path));
}

Status FakeFs::MakeDirectories(const std::string& path, Access /*access*/) {
  MUSTER_TRY(Asked(fail, path));
  for (std::size_t slash = 0; slash != std::string::npos;) {
    slash = path.find('/', slash + 1);
    const std::string part = path.substr(0, slash);
    if (files.contains(part)) {
      return FromErrno("mkdir", part, ENOTDIR);
    }
    if (!part.ends_with('/')) {
      directories.insert(part);
    }
  }
  return Ok();
}

Result<std::vector<std::string>> FakeFs::List(const std::string& path) const {
  MUSTER_TRY(Asked(fail, path));
  if (!IsDirectory(path)) {
    return FromErrno("opendir", path, files.contains(path) ? ENOTDIR : ENOENT);
  }
  const std::string prefix = path == "/" ? "/" : path + "/";
  std::set<std::string> names;
  const auto add = [&](const std::string& entry) {
    if (entry.starts_with(prefix) && entry.size() > prefix.size()) {
      const auto end = entry.find('/', prefix.size());
      names.insert(entry.substr(prefix.size(), end - prefix.size()));
    }
  };
  for (const auto& [file, bytes] : files) {
    add(file);
  }
  std::for_each(directories.begin(), directories.end(), add);
  return std::vector<std::string>(names.begin(), names.end());
}

bool FakeFs::Exists(const std::string& path) const {
  return files.contains(path) || IsDirectory(path);
}

Status FakeFs::Remove(const std::string& path) {
  MUSTER_TRY(Asked(fail, path));
  if (HasEntries(path)) {
    return FromErrno("remove", path, ENOTEMPTY);
  }
  if (files.erase(path) + directories.erase(path) == 0) {
    return FromErrno("remove", path, ENOENT);
  }
  return Ok();
}

Status FakeFs::RemoveRecursively(const std::string& path) {
  MUSTER_TRY(Asked(fail, path));
  const auto inside = [&](const std::string& entry) {
    return entry == path || entry.starts_with(path + "/");
  };
  std::erase_if(files, [&](const auto& file) { return inside(file.first); });
  std::erase_if(directories, inside);
  return Ok();
}

// A link is a file that holds its target.
Status FakeFs::Link(const std::string& target, const std::string& path) {
  return Write(path, target);
}

Status FakeFs::Rename(const std::string& from, const std::string& to) {
  MUSTER_TRY(Asked(fail, from));
  if (!Exists(from) || !IsDirectory(Parent(to))) {
    return FromErrno("rename", from + " to " + to, ENOENT);
  }
  MUSTER_TRY(Asked(fail, to));
  if (auto file = files.extract(from)) {
    if (IsDirectory(to)) {
      files.insert(std::move(file));
      return FromErrno("rename", from + " to " + to, EISDIR);
    }
    files[to] = std::move(file.mapped());
    return Ok();
  }
  if (files.contains(to) || HasEntries(to)) {
    return FromErrno("rename", from + " to " + to,
                     files.contains(to) ? ENOTDIR : ENOTEMPTY);
  }
  std::map<std::string, std::string> moved_files;
  std::set<std::string> moved{to};
  for (auto& [path, bytes] : files) {
    if (path.starts_with(from + "/")) {
      moved_files[to + path.substr(from.size())] = bytes;
    }
  }
  for (const auto& path : directories) {
    if (path.starts_with(from + "/")) {
      moved.insert(to + path.substr(from.size()));
    }
  }
  MUSTER_TRY(RemoveRecursively(from));
  files.merge(moved_files);
  directories.merge(moved);
  return Ok();
}

}  // namespace muster::sys

// SPDX-License-Identifier: Apache-2.0
#include "check/facts/shared_files.h"

#include "base/text.h"
#include "netcheck/mesh/dialer.h"
#include "sys/file/byte_source.h"
#include "sys/file/file_digest.h"
#include "sys/process/find_program.h"

namespace muster::check {
namespace {

constexpr std::chrono::seconds kTimeout{2};
constexpr std::size_t kMaxFiles = 16;

// What `path` is known as on all hosts, and where it is on this one.
struct Wanted {
  std::string name;  // "program train.py"
  std::string path;
};

// The interpreter, and every word that is a file: a script, its configuration.
std::vector<Wanted> FilesOf(const Context& context) {
  std::vector<Wanted> files;
  const auto& argv = context.command;
  if (argv.empty()) {
    return files;
  }
  const std::string& first = argv.front();
  if (first.find('/') != std::string::npos) {
    files.push_back({"program " + first, first});
  } else {
    files.push_back(
        {"interpreter " + first,
         sys::FindProgram(context.host.env, context.host.fs, first)});
  }
  for (std::size_t i = 1; i < argv.size() && files.size() < kMaxFiles; ++i) {
    // "--config=c.yaml"
    const std::string word = argv[i].starts_with('-')
                                 ? argv[i].substr(argv[i].find('=') + 1)
                                 : argv[i];
    if (sys::KindOf(word) == sys::PathKind::kFile) {
      files.push_back({"program " + word, word});
    }
  }
  return files;
}

std::string FileOf(const std::string& folder, const std::string& mark) {
  return sys::JoinPath(folder, ".muster-seen-" + mark);
}

}  // namespace

SharedFiles DigestSharedFiles(const Context& context) {
  std::vector<Wanted> wanted = FilesOf(context);
  for (const std::string& path : context.data) {
    if (!IsRemote(path)) {
      wanted.push_back({"data " + path, path});
    }
  }
  SharedFiles shared;
  const Deadline deadline = Deadline::After(kTimeout);
  for (const auto& [name, path] : wanted) {
    const auto digest = sys::DigestOf(path, {}, deadline);
    if (!digest) {
      shared.left_out.push_back(name + ": " + digest.error().message());
      continue;
    }
    shared.digests[name] = digest->digest;
    shared.seen.push_back(name + " " + BytesText(digest->size) +
                          (digest->whole ? "" : " (first and last part)"));
  }
  return shared;
}

std::map<std::string, std::string> CheckpointPlaces(const Context& context) {
  std::map<std::string, std::string> places;
  for (const std::string& folder : context.checkpoints) {
    if (IsRemote(folder)) {
      continue;
    }
    if (const auto space = context.machine.SpaceOf(folder)) {
      places["place " + folder] =
          space->served ? netcheck::kServedPlace : netcheck::kOwnPlace;
    }
  }
  return places;
}

CheckpointMarks::CheckpointMarks(const Context& context)
    : fs_(context.host.fs) {
  if (context.checkpoints.empty()) {
    return;
  }
  mark_ = netcheck::MakeNonce();
  for (const std::string& folder : context.checkpoints) {
    if (IsRemote(folder)) {
      continue;
    }
    folders_.push_back(folder);
    if (!fs_.Exists(folder)) {
      continue;
    }
    const std::string file = FileOf(folder, mark_);
    if (auto leaving = sys::TempFile::Make(file)) {
      leaving_.push_back(*std::move(leaving));
    }
    // Not Fs::Write, whose temporary file nobody would remove.
    const auto appender = fs_.OpenAppender(file);
    if (appender &&
        (*appender)->Append("written by muster check to test whether other "
                            "hosts see this file, then removed\n")) {
      written_.push_back(folder);
    }
  }
}

CheckpointMarks::~CheckpointMarks() {
  for (const std::string& folder : written_) {
    // Who cannot remove it now cannot later either.
    (void)fs_.Remove(FileOf(folder, mark_));
  }
}

std::vector<std::string> CheckpointMarks::Unseen(
    const std::string& mark) const {
  std::vector<std::string> unseen;
  for (const std::string& folder : folders_) {
    if (!fs_.Exists(FileOf(folder, mark))) {
      unseen.push_back(folder);
    }
  }
  return unseen;
}

}  // namespace muster::check

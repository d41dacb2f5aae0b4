// SPDX-License-Identifier: Apache-2.0
// Part of muster/checkpoint.h: folders of checkpoints and the newest good one.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "base/log.h"
#include "base/simd/crc32c.h"
#include "base/text.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "muster/checkpoint.h"
#include "muster/version.h"
#include "sys/file/fd.h"
#include "sys/file/file_lock.h"
#include "sys/file/file_writer.h"
#include "sys/file/fs.h"
#include "sys/file/open_file.h"

namespace muster {
namespace {

constexpr std::string_view kStepPrefix = "step-";
constexpr std::string_view kTemporaryPrefix = ".tmp-";
constexpr std::string_view kAside = ".before";  // what is being replaced
constexpr std::string_view kLock = ".lock";
constexpr std::string_view kProbe = ".tmp-probe";
// Room for so much is made whatever the file begins with.
constexpr std::uint64_t kMaxUnchecked = 1U << 30;
constexpr std::string_view kTensors = "model.safetensors";
constexpr std::string_view kManifest = "manifest.json";
constexpr std::size_t kMaxManifestBytes = 1U << 20;
constexpr const char* kOwnKeys = "muster.";
constexpr const char* kStepKey = "muster.step";
constexpr const char* kWriterKey = "muster.writer";

std::string StepName(std::uint64_t step) {
  char text[32];
  std::snprintf(text, sizeof text, "step-%010llu",
                static_cast<unsigned long long>(step));
  return text;
}

std::optional<std::uint64_t> StepOf(std::string_view name) {
  if (!name.starts_with(kStepPrefix)) {
    return std::nullopt;
  }
  const auto step = ParseInt(name.substr(kStepPrefix.size()));
  const bool ours =
      step && *step >= 0 && name == StepName(static_cast<std::uint64_t>(*step));
  return ours ? std::optional(static_cast<std::uint64_t>(*step)) : std::nullopt;
}

std::string Writer() {
  return "muster " + std::string(kVersion);
}

// A directory that is not there cannot be written to either: the way to it is
// no directory, or its file system (/proc) makes none.
Error CannotHold(Error error, const std::string& directory) {
  const std::string doing = "creating `" + directory + "` for checkpoints";
  if (error.cause() != Cause::kFileMissing) {
    return std::move(error).While(doing);
  }
  return Error(Cause::kFilePermission, error.message()).While(doing);
}

// The name that a save would give to what it has left under `name`; nullopt:
// no save has left that.
std::optional<std::string> PlaceOf(std::string_view name) {
  if (!name.starts_with(kTemporaryPrefix)) {
    return std::nullopt;
  }
  name.remove_prefix(kTemporaryPrefix.size());
  if (name.ends_with(kAside)) {
    name.remove_suffix(kAside.size());
  }
  return StepOf(name) ? std::optional(std::string(name)) : std::nullopt;
}

// An old checkpoint whose place is taken by a new one: it only costs room.
void RemoveOrSay(sys::Fs& fs, const std::string& path) {
  if (const Status removed = fs.RemoveRecursively(path); !removed) {
    MUSTER_LOG(kWarn, "an old checkpoint could not be removed",
               {{"path", path}, {"error", removed.error().ToString()}});
  }
}

// One that a save has left: removed, or put back where the save was killed
// between its two renames.
Status EndUnfinished(sys::Fs& fs, const std::string& left,
                     const std::string& place) {
  if (!left.ends_with(kAside)) {
    return fs.RemoveRecursively(left);
  }
  if (!fs.Exists(place)) {
    return fs.Rename(left, place);
  }
  RemoveOrSay(fs, left);
  return Ok();
}

// What saves and proofs that did not come to their end have left.
Status EndAllUnfinished(sys::Fs& fs, const std::string& directory) {
  MUSTER_ASSIGN(const auto names, fs.List(directory));
  for (const std::string& name : names) {
    if (const auto place = PlaceOf(name)) {
      MUSTER_TRY(EndUnfinished(fs, sys::JoinPath(directory, name),
                               sys::JoinPath(directory, *place)));
    }
  }
  return fs.RemoveRecursively(sys::JoinPath(directory, kProbe));
}

Status TryToWrite(sys::Fs& fs, const std::string& directory) {
  const std::string probe = sys::JoinPath(directory, kProbe);
  const auto write = [&]() -> Status {
    MUSTER_ASSIGN(auto file, sys::FileWriter::Create(probe));
    MUSTER_TRY(file.Append(std::string(4096, ' ')));
    return file.Finish();
  };
  if (Status written = write(); !written) {
    (void)fs.Remove(probe).has_value();
    return written;
  }
  return fs.Remove(probe);
}

// Writes the tensors' file; gives its manifest.
Result<Manifest> WriteTensors(const std::string& path,
                              std::span<const TensorView> tensors,
                              const SafetensorsLayout& layout) {
  MUSTER_ASSIGN(auto file, sys::FileWriter::Create(path));
  Manifest manifest{.bytes = layout.head.size() + layout.buffer_bytes,
                    .writer = Writer()};
  const auto append = [&](std::span<const std::byte> bytes) {
    manifest.crc32c = Crc32c(manifest.crc32c, bytes);
    return file.Append(bytes);
  };
  MUSTER_TRY(append(std::as_bytes(std::span<const char>(layout.head))));
  for (const std::size_t at : layout.order) {
    MUSTER_TRY(append(tensors[at].bytes));
  }
  MUSTER_TRY(file.Finish());
  return manifest;
}

// Puts a finished directory in its place, over one of the same name.
Status PutInPlace(const std::string& made, const std::string& place,
                  const std::string& aside) {
  sys::RealFs fs;
  const bool replaces = sys::IsThere(place);
  if (replaces) {
    MUSTER_TRY(fs.RemoveRecursively(aside));
    MUSTER_TRY(fs.Rename(place, aside));
  }
  if (Status renamed = fs.Rename(made, place); !renamed) {
    if (replaces) {
      // Best effort: the error that is told is the first one.
      (void)fs.Rename(aside, place).has_value();
    }
    return renamed;
  }
  if (replaces) {
    RemoveOrSay(fs, aside);
  }
  return Ok();
}

Result<sys::Fd> LockOut(const std::string& directory) {
  const std::string path = sys::JoinPath(directory, kLock);
  auto locked = sys::LockFile(path);
  if (!locked) {
    return CannotHold(std::move(locked).error(), directory);
  }
  if (!locked->file && !locked->held_here) {
    MUSTER_LOG(kWarn,
               "another machine writes checkpoints here, or was lost while it "
               "did; continuing",
               {{"directory", directory}});
  } else if (!locked->file) {
    return Error(Cause::kCkptPlacement,
                 "another process writes checkpoints to `" + directory +
                     "` (`fuser -v " + path +
                     "` shows it): use a separate folder for each run, or stop "
                     "the other run");
  }
  return std::move(locked->file);
}

// A file of a checkpoint. What cannot be read for lack of rights, descriptors
// or the way to it may be good; else what the disk does not give is damaged.
Result<std::string> ReadPart(const std::string& path, std::size_t limit) {
  auto read = sys::RealFs().Read(path, limit);
  if (read) {
    return read;
  }
  switch (read.error().cause()) {
    case Cause::kFileCorrupt:
    case Cause::kFileMissing:
    case Cause::kFilePermission:
    case Cause::kOsLimit:
    case Cause::kDataPathUnreachable:
      return read;
    default:
      return Error(Cause::kFileCorrupt, read.error().message());
  }
}

// Before there is room made for all of it: a sparse file costs nothing, and may
// be larger than memory.
Status CheckHead(const std::string& path, std::uint64_t bytes) {
  std::uint64_t length = 0;  // in little endian, then that much JSON
  MUSTER_ASSIGN(sys::Fd fd, sys::OpenToRead(path));
  sys::FileReader reader(std::move(fd), path);
  MUSTER_TRY(reader.Read(reinterpret_cast<char*>(&length), sizeof length));
  std::string head(sizeof length + std::min(length, kMaxHeaderBytes), '\0');
  std::memcpy(head.data(), &length, sizeof length);
  MUSTER_ASSIGN(
      const std::size_t got,
      reader.Read(head.data() + sizeof length, head.size() - sizeof length));
  head.resize(sizeof length + got);
  MUSTER_TRY(ParseSafetensors(head, bytes, path));
  return Ok();
}

// Whether manifest and size say that a checkpoint is complete; its bytes are
// not read.
bool LooksComplete(const std::string& folder) {
  const std::string path = sys::JoinPath(folder, kManifest);
  const auto text = ReadPart(path, kMaxManifestBytes);
  if (!text) {
    return false;
  }
  const auto manifest = ParseManifest(*text, path);
  const auto bytes = sys::SizeOfFile(sys::JoinPath(folder, kTensors));
  return manifest && bytes && *bytes == manifest->bytes;
}

}  // namespace

struct CheckpointStore::Lock {
  sys::Fd file;
};

CheckpointStore::CheckpointStore(CheckpointOptions options,
                                 std::unique_ptr<Lock> lock)
    : options_(std::move(options)), lock_(std::move(lock)) {}
CheckpointStore::CheckpointStore(CheckpointStore&&) noexcept = default;
CheckpointStore& CheckpointStore::operator=(CheckpointStore&&) noexcept =
    default;
CheckpointStore::~CheckpointStore() = default;

Result<CheckpointStore> CheckpointStore::Open(
    const CheckpointOptions& options) {
  if (options.keep < 1 || options.directory.empty()) {
    return Error(
        Cause::kUsageInvalid,
        options.directory.empty()
            ? "no checkpoint directory is given"
            : "the number of kept checkpoints must be at least 1, not " +
                  std::to_string(options.keep));
  }
  sys::RealFs fs;
  const std::string& directory = options.directory;
  if (Status made = fs.MakeDirectories(directory); !made) {
    return CannotHold(std::move(made).error(), directory);
  }
  MUSTER_ASSIGN(sys::Fd lock, LockOut(directory));
  MUSTER_TRY(EndAllUnfinished(fs, directory));
  if (Status written = TryToWrite(fs, directory); !written) {
    return CannotHold(std::move(written).error(), directory);
  }
  return CheckpointStore(options,
                         std::make_unique<Lock>(Lock{.file = std::move(lock)}));
}

Status CheckpointStore::Save(
    std::uint64_t step, std::span<const TensorView> tensors,
    const std::map<std::string, std::string>& metadata) {
  auto words = metadata;
  words[kStepKey] = std::to_string(step);
  words[kWriterKey] = Writer();
  MUSTER_ASSIGN(const SafetensorsLayout layout, LayOut(tensors, words));

  sys::RealFs fs;
  const std::string& directory = options_.directory;
  const std::string name = StepName(step);
  const std::string made =
      sys::JoinPath(directory, std::string(kTemporaryPrefix) + name);
  const auto make = [&]() -> Status {
    MUSTER_TRY(fs.RemoveRecursively(made));
    MUSTER_TRY(fs.MakeDirectories(made));
    MUSTER_ASSIGN(Manifest manifest,
                  WriteTensors(sys::JoinPath(made, kTensors), tensors, layout));
    manifest.step = step;
    // Syncs the directory, too.
    MUSTER_TRY(fs.Write(sys::JoinPath(made, kManifest), ToString(manifest)));
    MUSTER_TRY(PutInPlace(made, sys::JoinPath(directory, name),
                          made + std::string(kAside)));
    return sys::SyncDirectory(directory);
  };
  if (Status saved = make(); !saved) {
    (void)fs.RemoveRecursively(made).has_value();
    return CannotHold(std::move(saved).error(), directory)
        .While("saving the checkpoint of step " + std::to_string(step));
  }
  if (const Status removed = RemoveOld(step); !removed) {
    // This one is safe; the next save tries to remove the others again.
    MUSTER_LOG(kWarn, "an old checkpoint could not be removed",
               {{"error", removed.error().ToString()}});
  }
  return Ok();
}

// Only those up to the step just saved: newer ones are not of this training, or
// bad, and will be replaced when it comes there. Damaged ones do not count:
// they go with the ones before the last that is kept.
Status CheckpointStore::RemoveOld(std::uint64_t newest) const {
  MUSTER_ASSIGN(auto steps, Steps());
  steps.erase(std::upper_bound(steps.begin(), steps.end(), newest),
              steps.end());
  sys::RealFs fs;
  int kept = 0;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const std::string folder =
        sys::JoinPath(options_.directory, StepName(*step));
    if (kept == options_.keep) {
      MUSTER_TRY(fs.RemoveRecursively(folder));
    } else if (LooksComplete(folder)) {
      ++kept;
    }
  }
  return Ok();
}

Result<std::vector<std::uint64_t>> CheckpointStore::Steps() const {
  MUSTER_ASSIGN(const auto names, sys::RealFs().List(options_.directory));
  std::vector<std::uint64_t> steps;
  for (const std::string& name : names) {
    if (const auto step = StepOf(name)) {
      steps.push_back(*step);
    }
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

Result<Checkpoint> CheckpointStore::Load(std::uint64_t step) const {
  const std::string folder = sys::JoinPath(options_.directory, StepName(step));
  const std::string manifest_path = sys::JoinPath(folder, kManifest);
  const std::string path = sys::JoinPath(folder, kTensors);
  MUSTER_ASSIGN(const std::string text,
                ReadPart(manifest_path, kMaxManifestBytes));
  MUSTER_ASSIGN(const Manifest manifest, ParseManifest(text, manifest_path));
  if (manifest.step != step) {
    return Error(Cause::kFileCorrupt, "`" + manifest_path + "` is for step " +
                                          std::to_string(manifest.step));
  }
  Checkpoint checkpoint{};
  if (manifest.bytes > kMaxUnchecked) {
    MUSTER_TRY(CheckHead(path, manifest.bytes));
  }
  MUSTER_ASSIGN(checkpoint.storage, ReadPart(path, manifest.bytes));
  const auto all = std::as_bytes(std::span<const char>(checkpoint.storage));
  if (all.size() != manifest.bytes) {
    return Error(Cause::kFileCorrupt, "`" + path + "` is truncated: it has " +
                                          std::to_string(all.size()) +
                                          " bytes, but its manifest says " +
                                          std::to_string(manifest.bytes));
  }
  if (const auto crc = Crc32c(0, all); crc != manifest.crc32c) {
    return Error(Cause::kFileCorrupt,
                 "`" + path + "` has CRC-32C " + CrcText(crc) +
                     ", but its manifest says " + CrcText(manifest.crc32c));
  }
  MUSTER_ASSIGN(SafetensorsContent content,
                ParseSafetensors(checkpoint.storage, all.size(), path));
  for (const auto& place : content.places) {
    checkpoint.bytes.push_back(all.subspan(place.begin, place.size));
  }
  std::erase_if(content.metadata, [](const auto& word) {
    return word.first.starts_with(kOwnKeys);
  });
  checkpoint.step = step;
  checkpoint.path = path;
  checkpoint.metadata = std::move(content.metadata);
  checkpoint.writer = manifest.writer;
  checkpoint.specs = std::move(content.specs);
  return checkpoint;
}

Result<LoadOutcome> CheckpointStore::LoadNewest() const {
  MUSTER_ASSIGN(const auto steps, Steps());
  LoadOutcome outcome;
  for (std::size_t i = steps.size(); i-- > 0;) {
    auto checkpoint = Load(steps[i]);
    if (checkpoint) {
      outcome.checkpoint = std::move(checkpoint).value();
      return outcome;
    }
    const std::string doing =
        "loading the checkpoint of step " + std::to_string(steps[i]);
    const Cause cause = checkpoint.error().cause();
    if (cause != Cause::kFileCorrupt && cause != Cause::kFileMissing) {
      return std::move(checkpoint).error().While(doing);
    }
    outcome.skipped.push_back(std::move(checkpoint).error().While(doing));
  }
  return outcome;
}

}  // namespace muster

// SPDX-License-Identifier: Apache-2.0
#include "diagnose/read/bundle.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/redact/redact.h"
#include "base/redact/secret_name.h"
#include "base/text.h"
#include "diagnose/read/tar_writer.h"
#include "sys/file/byte_source.h"
#include "sys/file/fs.h"

namespace muster::diagnose {
namespace {

constexpr std::size_t kMaxFiles = 5'000;
// Of a file that is larger: how it began and how it ended.
constexpr std::size_t kKeptHead = std::size_t{1} << 20;
constexpr std::size_t kKeptTail = std::size_t{15} << 20;
constexpr std::size_t kPiece = std::size_t{256} << 10;
constexpr std::size_t kSniffed = 4096;

struct TextFile {
  std::string head, tail;
  std::uint64_t bytes = 0;  // of the whole file

  std::uint64_t LeftOut() const { return bytes - head.size() - tail.size(); }
};

// Where something is left out, a secret may begin before the gap or end behind
// it, and nothing of it would be known: whole lines are kept. A text of one
// line ends at a word.
void EndAtLine(std::string& head) {
  const auto line = head.rfind('\n');
  const auto end = line == head.npos ? head.find_last_of(" \t\"'") : line;
  head.resize(end == head.npos ? 0 : end + 1);
}

// The lines of a key whose BEGIN was left out go as well.
void BeginAtLine(std::string& tail) {
  constexpr int kMaxKeyLines = 200;
  const auto first = tail.find('\n');
  std::size_t kept = first == tail.npos ? tail.size() : first + 1;
  std::size_t at = kept;
  for (int lines = 0; lines < kMaxKeyLines && at < tail.size(); ++lines) {
    const std::size_t end = std::min(tail.find('\n', at), tail.size() - 1) + 1;
    const std::string_view line = std::string_view(tail).substr(at, end - at);
    if (line.find("PRIVATE KEY") != line.npos) {
      const bool ends = line.find("-----BEGIN") == line.npos &&
                        line.find("-----END") != line.npos;
      kept = ends ? end : kept;
      break;
    }
    at = end;
  }
  tail.erase(0, kept);
}

void Take(std::string_view piece, TextFile& text) {
  text.bytes += piece.size();
  const std::size_t first =
      std::min(piece.size(), kKeptHead - text.head.size());
  text.head += piece.substr(0, first);
  text.tail += piece.substr(first);
  // Now and then, so that a byte is not moved for each piece.
  if (text.tail.size() > 2 * kKeptTail) {
    text.tail.erase(0, text.tail.size() - kKeptTail);
  }
}

Result<TextFile> ReadText(Result<sys::ByteSource> opened) {
  MUSTER_ASSIGN(auto source, std::move(opened));
  TextFile text;
  std::vector<char> piece(kPiece);
  for (;;) {
    MUSTER_ASSIGN(const std::size_t count, source.Read(piece));
    if (count == 0) {
      break;
    }
    Take({piece.data(), count}, text);
  }
  if (text.tail.size() > kKeptTail) {
    text.tail.erase(0, text.tail.size() - kKeptTail);
  }
  if (text.LeftOut() > 0) {
    EndAtLine(text.head);
    BeginAtLine(text.tail);
  } else {
    text.head += std::exchange(text.tail, "");
  }
  return text;
}

bool IsText(const TextFile& text) {
  return std::string_view(text.head).substr(0, kSniffed).find('\0') ==
         std::string_view::npos;
}

// "a/b/../c" and "/a/b" must not leave the folder where they are unpacked.
std::string NameInside(const std::string& path) {
  std::string name;
  for (const std::string_view part : Split(path, '/')) {
    if (!part.empty() && part != "." && part != "..") {
      name += (name.empty() ? "" : "/") + std::string(part);
    }
  }
  return name;
}

class Packer {
 public:
  explicit Packer(const BundleOptions& options)
      : options_(options), redactor_(options.redact_emails) {}

  Status Take(const std::string& input) {
    input_ = input;
    switch (sys::KindOf(input)) {
      case sys::PathKind::kNothing:
        return sys::FromErrno("open", input, ENOENT);
      case sys::PathKind::kDirectory:
        Folder(input);
        return Ok();
      default:
        File(input, sys::ByteSource::OpenFile(input));
        return Ok();
    }
  }

  Result<Bundle> Finish() {
    if (bundle_.files.empty()) {
      return NothingPacked();
    }
    AddEnvironment();
    Add("bundle.json", Contents());
    MUSTER_ASSIGN(bundle_.archive, tar_.Finish());
    return std::move(bundle_);
  }

 private:
  void Folder(const std::string& path) {
    const sys::FileList list = sys::FilesBelow(path, kMaxFiles);
    if (!list.cut.empty()) {
      Note(redactor_.Path(path), list.cut);
    }
    for (const std::string& folder : list.refused) {
      Note(redactor_.Path(folder), "no permission to read this folder");
    }
    for (const std::string& file : list.paths) {
      File(file, sys::ByteSource::OpenBelow(path, file));
    }
  }

  void File(const std::string& path, Result<sys::ByteSource> source) {
    auto text = ReadText(std::move(source));
    if (!text) {
      bundle_.notes.push_back(redactor_.Text(text.error().message()));
      return;
    }
    const std::string name = redactor_.Path(path);
    if (!IsText(*text)) {
      Note(name, "not text, skipped");
      return;
    }
    std::string packed = redactor_.Text(text->head);
    if (text->LeftOut() > 0) {
      const std::string cut = BytesText(text->LeftOut()) + " skipped";
      packed += "[muster: " + cut + "]\n";
      Note(name, cut);
    }
    packed += redactor_.Text(text->tail);
    Add(NameInside(name), packed);
    bundle_.files.push_back(name);
  }

  Error NothingPacked() const {
    return Error(Cause::kUsageInvalid,
                 "nothing to pack in `" + Printable(input_) + "`: " +
                     (bundle_.notes.empty() ? "it contains no files"
                                            : bundle_.notes.front()));
  }

  void Note(const std::string& name, const std::string& what) {
    bundle_.notes.push_back(name + ": " + what);
  }

  // Two inputs may have one name inside: the second one gets a number.
  void Add(std::string name, std::string_view bytes) {
    const std::string plain = name;
    for (int number = 2; !names_.insert(name).second; ++number) {
      name = plain;
      name += "." + std::to_string(number);
    }
    tar_.Add(name, bytes, options_.at);
  }

  void AddEnvironment() {
    std::string text;
    for (const auto& [name, value] : options_.environment) {
      if (VariableIsPublic(name)) {
        std::string line = name;
        line += "=" + value;
        text += redactor_.Text(line) + "\n";
      } else {
        bundle_.left_out.push_back(name);
      }
    }
    Add("environment.txt", text);
  }

  std::string Contents() {
    bundle_.removed = redactor_.removed();
    Json json;
    json["schema"] = "muster.bundle/1";
    json["version"] = options_.version;
    json["at"] = ToString(options_.at);
    json["files"] = bundle_.files;
    json["removed"] = bundle_.removed;
    // Their number only: names may tell what one keeps.
    json["variables_left_out"] = bundle_.left_out.size();
    json["notes"] = bundle_.notes;
    return Dump(json, 2) + "\n";
  }

  const BundleOptions& options_;
  TarWriter tar_;
  Redactor redactor_;
  std::set<std::string> names_;
  std::string input_;  // the last one
  Bundle bundle_;
};

}  // namespace

Result<Bundle> MakeBundle(std::span<const std::string> inputs,
                          const BundleOptions& options) {
  Packer packer(options);
  for (const std::string& input : inputs) {
    MUSTER_TRY(packer.Take(input));
  }
  return packer.Finish();
}

}  // namespace muster::diagnose

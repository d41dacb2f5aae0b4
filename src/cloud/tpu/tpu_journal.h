// SPDX-License-Identifier: Apache-2.0
// What this user asked the cloud to make and to remove, kept on disk: written
// before each request that changes something, so that nothing is forgotten
// whenever the program ends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "muster/fact.h"
#include "sys/host.h"

namespace muster::cloud {

// The label of a node that says which request made it.
inline constexpr const char* kRequestLabel = "muster-request";

// One thing that was asked for. Its request id tells it from another of the
// same name.
struct MadeTpu {
  std::string kind;  // "node", "queued"
  std::string project, zone, name;
  std::string request;
  std::string type, version, scheduling;
  std::string operation;  // its name, once the cloud told it
  WallTime at{};          // of the last line
  int pid = 0;            // who wrote it, and on which host
  std::string host;
};

// What a line says of it.
enum class TpuStep {
  kAsked,     // the request to make it is about to be sent
  kMade,      // the cloud took it on
  kRefused,   // the cloud did not
  kKept,      // its user has it now
  kRemoving,  // the request to remove it is about to be sent
  kGone,      // the cloud has it no more
  kChanging,  // the request to start or stop it is about to be sent
  kChanged,   // what came of that is in the line
};

// Whether the process that wrote the last line of it is still at it.
enum class AtWork {
  kNo,
  kYes,
  kMaybe,  // on another host, where nothing is seen: for a day after the line
};
AtWork IsAtWork(const MadeTpu& made, const sys::Host& host);
// "process 17 on host-a".
std::string WriterText(const MadeTpu& made);

// One file of lines for each user: $XDG_STATE_HOME/muster/tpu.jsonl, else
// ~/.local/state. Several processes may write it. One thread.
class TpuJournal {
 public:
  // launch-env-missing: neither XDG_STATE_HOME nor HOME is set; what sys::Fs
  // says. A last line that was torn off is left out.
  static Result<TpuJournal> Open(const sys::Host& host);

  // On the disk when it returns. `what` is told in the line: an error, a verb.
  // What is gone is not Unfinished() any more, written down or not.
  Status Write(TpuStep step, const MadeTpu& made, const std::string& what = "");

  // What was asked for and is neither refused, kept nor gone, oldest first.
  std::vector<MadeTpu> Unfinished() const;
  // The one of that request, whatever became of it; nullptr: it was not made
  // from here.
  const MadeTpu* Find(const std::string& request) const;

  const std::string& path() const { return path_; }

 private:
  struct Entry {
    MadeTpu made;
    bool created = false;  // a line asks for it
    TpuStep last = TpuStep::kAsked;
  };
  TpuJournal(const sys::Host& host, std::string path,
             std::unique_ptr<sys::Appender> file)
      : host_(&host), path_(std::move(path)), file_(std::move(file)) {}
  void Read(const std::string& text);
  void Take(TpuStep step, const MadeTpu& made);

  const sys::Host* host_;
  std::string path_;
  std::unique_ptr<sys::Appender> file_;
  std::vector<Entry> entries_;
};

// A new id, as UUIDs are written.
std::string MakeRequestId();

}  // namespace muster::cloud

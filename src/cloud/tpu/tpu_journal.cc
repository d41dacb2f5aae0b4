// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/tpu_journal.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <random>
#include <utility>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/log.h"
#include "base/text.h"
#include "cloud/api/timestamp.h"
#include "sys/process/process.h"

namespace muster::cloud {
namespace {

// As long as a creation on another host is left to it.
constexpr std::chrono::hours kMaybeAtWork{24};
constexpr const char* kSchema = "muster.tpu.journal/1";
constexpr std::array<std::pair<TpuStep, const char*>, 8> kSteps{{
    {TpuStep::kAsked, "asked"},
    {TpuStep::kMade, "made"},
    {TpuStep::kRefused, "refused"},
    {TpuStep::kKept, "kept"},
    {TpuStep::kRemoving, "removing"},
    {TpuStep::kGone, "gone"},
    {TpuStep::kChanging, "changing"},
    {TpuStep::kChanged, "changed"},
}};

const char* Word(TpuStep step) {
  for (const auto& [known, word] : kSteps) {
    if (known == step) {
      return word;
    }
  }
  return "";
}

std::optional<TpuStep> StepOf(const std::string& text) {
  for (const auto& [known, word] : kSteps) {
    if (word == text) {
      return known;
    }
  }
  return std::nullopt;
}

Json ToJson(TpuStep step, const JournaledTpu& made, const std::string& what) {
  return {{"schema", kSchema},
          {"at", ToString(made.at)},
          {"step", Word(step)},
          {"kind", made.kind},
          {"project", made.project},
          {"zone", made.zone},
          {"name", made.name},
          {"request", made.request},
          {"type", made.type},
          {"version", made.version},
          {"scheduling", made.scheduling},
          {"operation", made.operation},
          {"what", what},
          {"pid", made.pid},
          {"host", made.host}};
}

JournaledTpu FromJson(const Json& line) {
  return {.kind = TextOf(line, "kind"),
          .project = TextOf(line, "project"),
          .zone = TextOf(line, "zone"),
          .name = TextOf(line, "name"),
          .request = TextOf(line, "request"),
          .type = TextOf(line, "type"),
          .version = TextOf(line, "version"),
          .scheduling = TextOf(line, "scheduling"),
          .operation = TextOf(line, "operation"),
          .at = ParseTimestamp(TextOf(line, "at")).value_or(WallTime()),
          .pid = NumberOf(line, "pid").value_or(0),
          .host = TextOf(line, "host")};
}

bool IsAlive(int pid, const sys::Host& host) {
  const auto own = host.fs.Read("/proc/self/comm", 100);
  const auto its = host.fs.Read("/proc/" + std::to_string(pid) + "/comm", 100);
  const auto state = sys::ReadProcess(pid);
  return own && its && *own == *its && state && state->state != 'Z';
}

}  // namespace

AtWork IsAtWork(const JournaledTpu& made, const sys::Host& host) {
  if (made.host == host.env.Hostname()) {
    return made.pid != sys::OwnPid() && IsAlive(made.pid, host) ? AtWork::kYes
                                                                : AtWork::kNo;
  }
  const bool is_young = host.clock.WallNow() - made.at < kMaybeAtWork;
  return !made.host.empty() && is_young ? AtWork::kMaybe : AtWork::kNo;
}

std::string WriterText(const JournaledTpu& made) {
  return "process " + std::to_string(made.pid) + " on " + Printable(made.host);
}

Result<TpuJournal> TpuJournal::Open(const sys::Host& host) {
  const auto state = sys::FirstSet(host.env, {"XDG_STATE_HOME"});
  const auto home = sys::FirstSet(host.env, {"HOME"});
  if (!state && !home) {
    return Error(Cause::kLaunchEnvMissing,
                 "cannot record created resources: neither XDG_STATE_HOME nor "
                 "HOME is set");
  }
  const std::string folder =
      (state ? state->value : home->value + "/.local/state") + "/muster";
  MUSTER_TRY(host.fs.MakeDirectories(folder));
  const std::string path = sys::JoinPath(folder, "tpu.jsonl");
  std::string text;
  if (host.fs.Exists(path)) {
    MUSTER_ASSIGN(text, host.fs.Read(path));
  }
  MUSTER_ASSIGN(auto file, host.fs.OpenAppender(path));
  TpuJournal journal(host, path, std::move(file));
  journal.Read(text);
  if (!text.empty() && !text.ends_with('\n')) {
    // What was torn off stays a line of its own.
    MUSTER_TRY(journal.file_->Append("\n"));
  }
  return journal;
}

void TpuJournal::Read(const std::string& text) {
  std::size_t unread = 0;
  for (const std::string& line : Split(text, '\n')) {
    const auto json = ParseJson(line, Cause::kFileCorrupt, path_);
    const auto step = json && json->is_object() ? StepOf(TextOf(*json, "step"))
                                                : std::nullopt;
    if (step) {
      Take(*step, FromJson(*json));
    } else if (!Trim(line).empty()) {
      ++unread;
    }
  }
  if (unread > 0) {
    MUSTER_LOG(kInfo, "`" + Printable(path_) + "`: " +
                          Count(static_cast<std::int64_t>(unread), "line") +
                          " cannot be read, as after an interrupted write");
  }
}

void TpuJournal::Take(TpuStep step, const JournaledTpu& made) {
  auto entry =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) {
        return one.made.request == made.request && one.made.kind == made.kind;
      });
  if (entry == entries_.end()) {
    entry = entries_.insert(entries_.end(), Entry{});
  }
  entry->made = made;
  entry->created = entry->created || step == TpuStep::kAsked;
  // Starting and stopping leaves what it is.
  if (step != TpuStep::kChanging && step != TpuStep::kChanged) {
    entry->last = step;
  }
}

Status TpuJournal::Write(TpuStep step, const JournaledTpu& made,
                         const std::string& what) {
  JournaledTpu line = made;
  line.at = host_->clock.WallNow();
  line.pid = sys::OwnPid();
  line.host = host_->env.Hostname();
  auto done = file_->Append(Dump(ToJson(step, line, what)) + "\n");
  done = done ? file_->Sync() : std::move(done);
  if (!done) {
    if (step == TpuStep::kGone) {
      Take(step, line);
    }
    return std::move(done).error().While("recording the cloud request");
  }
  Take(step, line);
  return Ok();
}

std::vector<JournaledTpu> TpuJournal::Unfinished() const {
  std::vector<JournaledTpu> unfinished;
  for (const Entry& one : entries_) {
    if (one.created && one.last != TpuStep::kRefused &&
        one.last != TpuStep::kKept && one.last != TpuStep::kGone) {
      unfinished.push_back(one.made);
    }
  }
  return unfinished;
}

const JournaledTpu* TpuJournal::Find(const std::string& request) const {
  const auto entry =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) {
        return one.created && one.made.request == request;
      });
  return request.empty() || entry == entries_.end() ? nullptr : &entry->made;
}

std::string MakeRequestId() {
  std::random_device random;
  std::array<std::uint32_t, 4> words{};
  std::generate(words.begin(), words.end(), [&] { return random(); });
  words[1] = (words[1] & 0xffff0fffU) | 0x00004000U;  // version 4
  words[2] = (words[2] & 0x3fffffffU) | 0x80000000U;  // as RFC 4122 has it
  std::array<char, 37> text{};
  std::snprintf(text.data(), text.size(), "%08x-%04x-%04x-%04x-%04x%08x",
                words[0], words[1] >> 16, words[1] & 0xffffU, words[2] >> 16,
                words[2] & 0xffffU, words[3]);
  return text.data();
}

}  // namespace muster::cloud

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/command_text.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "finding/finding.h"
#include "record/report.h"

namespace muster::record {
namespace {

// Values of a document that may have been written by another version or by
// hand: what is not there reads as nothing.
const Json& At(const Json& json, const char* key) {
  static const Json nothing;
  if (!json.is_object()) {
    return nothing;
  }
  const auto found = json.find(key);
  return found == json.end() ? nothing : *found;
}

std::string Text(const Json& json) {
  return json.is_string()    ? Printable(json.get<std::string>())
         : json.is_null()    ? std::string("-")
         : json.is_boolean() ? std::string(json.get<bool>() ? "yes" : "no")
                             : Printable(Dump(json));
}

double Number(const Json& json) {
  return json.is_number() ? json.get<double>() : 0;
}

std::string Seconds(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, seconds < 100 ? "%.3f s" : "%.1f s",
                seconds);
  return text;
}

// The words of a document, safe for a terminal.
std::string CommandText(const Json& argv) {
  std::string line;
  if (argv.is_array()) {
    for (const Json& word : argv) {
      line += (line.empty() ? "" : " ") + ShellWord(Text(word));
    }
  }
  return line;
}

// "rank 1 was killed by SIGKILL", "rank 0 exited with 3", "no-progress".
std::string HowItFailed(const Json& failure) {
  const std::string who =
      At(failure, "rank").is_null() ? "" : "rank " + Text(At(failure, "rank"));
  std::string how;
  if (At(failure, "signal").is_string()) {
    how = " was killed by " + Text(At(failure, "signal"));
  } else if (At(failure, "code").is_number()) {
    how = " exited with " + Text(At(failure, "code"));
  }
  return who + how + (who.empty() ? "" : ": ") + Text(At(failure, "cause"));
}

void AddHead(const Json& report, std::string& out) {
  const Json& exit = At(report, "exit");
  const bool good = exit.is_object() && At(exit, "code") == 0;
  out += "# Run " + Text(At(report, "run")) +
         (exit.is_null() ? ": not finished"
          : good         ? ": finished"
                         : ": failed") +
         "\n\n";
  out += "    " + CommandText(At(report, "command")) + "\n\n";
  out += "- started " + Text(At(report, "started")) + " on host " +
         Text(At(report, "host")) + ", took " +
         Seconds(Number(At(report, "duration_s"))) + "\n";
  if (exit.is_object()) {
    out += "- exit code " + Text(At(exit, "code")) + " (origin " +
           Text(At(exit, "origin")) + "): " + Text(At(exit, "text")) + "\n";
  }
  for (const Json& held : At(report, "containment")) {
    const bool cgroup = At(held, "cgroup").is_string();
    out += "- processes on host " + Text(At(held, "host")) + " held by " +
           (cgroup ? "cgroup " + Text(At(held, "cgroup"))
                   : "process tree; no cgroup: " + Text(At(held, "why_not"))) +
           "\n";
  }
  for (const Json& note : At(report, "notes")) {
    out += "- " + Text(note) + "\n";
  }
}

void AddFindings(const Json& report, std::string& out) {
  const Json& findings = At(report, "findings");
  if (!findings.is_array() || findings.empty()) {
    return;
  }
  out += "\n## Findings\n";
  // What every attempt ended with again is shown once.
  std::vector<std::pair<std::string, int>> texts;
  std::vector<Finding> known;
  for (const Json& json : findings) {
    auto finding = FindingFromJson(json);
    std::string text =
        finding ? RenderText(*finding, {}) : Printable(Dump(json));
    if (finding) {
      known.push_back(*std::move(finding));
    }
    auto same =
        std::ranges::find(texts, text, &std::pair<std::string, int>::first);
    if (same == texts.end()) {
      texts.emplace_back(std::move(text), 1);
    } else {
      ++same->second;
    }
  }
  for (const auto& [text, times] : texts) {
    out += times > 1 ? "\n" + std::to_string(times) + " times:\n" : "";
    out += "\n```\n" + text + (text.ends_with('\n') ? "```\n" : "\n```\n");
  }
  if (const std::string safety = SafetyText(known, {}); !safety.empty()) {
    out += "\n```\n" + safety + "```\n";
  }
}

void AddAttempts(const Json& report, std::string& out) {
  out += "\n## Attempts\n\n";
  out +=
      "| attempt | started | end | step reached | resumed at | lost steps "
      "| then |\n|---|---|---|---|---|---|---|\n";
  for (const Json& attempt : At(report, "attempts")) {
    const Json& failure = At(attempt, "failure");
    std::int64_t step = 0;
    bool told = false;
    for (const Json& rank : At(attempt, "ranks")) {
      if (const auto reached = IntegerOf(At(rank, "step"))) {
        step = std::max(step, *reached);
        told = true;
      }
    }
    out +=
        "| " + Text(At(attempt, "attempt")) + " | " +
        Text(At(attempt, "started")) + " | " +
        (failure.is_null() ? std::string("succeeded") : HowItFailed(failure)) +
        " | " + (told ? std::to_string(step) : std::string("-")) + " | " +
        Text(At(failure, "resumed_from")) + " | " +
        Text(At(failure, "lost_steps")) + " | " +
        Text(At(attempt, "decision")) + " |\n";
  }
}

void AddTimes(const Json& report, std::string& out) {
  static constexpr std::pair<const char*, const char*> kRows[] = {
      {"wait_for_members_s", "waiting for members"},
      {"start_s", "startup, up to the first step"},
      {"step_s", "steps"},
      {"input_wait_s", "waiting for input"},
      {"evaluate_s", "evaluation"},
      {"checkpoint_s", "checkpoints"},
      {"lost_by_failures_s", "lost to failures"},
      {"other_s", "not accounted for"}};
  const Json& time = At(report, "time");
  const double total = Number(At(time, "total_s"));
  out += "\n## Where the time went\n\n| what | time | share |\n|---|---|---|\n";
  for (const auto& [key, what] : kRows) {
    const double seconds = Number(At(time, key));
    const double share =
        total > 0 ? std::clamp(100 * seconds / total, 0.0, 1e6) : 0;
    out += std::string("| ") + what + " | " + Seconds(seconds) + " | " +
           std::to_string(std::lround(share)) + " % |\n";
  }
  out += "| all | " + Seconds(total) + " | 100 % |\n";
}

void AddTraining(const Json& report, std::string& out) {
  const Json& training = At(report, "training");
  out += "\n## Training\n\n";
  if (!training.is_object()) {
    out += "The program reported no steps.\n";
    return;
  }
  out += "- step " + Text(At(training, "step")) + "\n";
  out += "- " + Text(At(training, "steps_per_s")) + " steps/s, " +
         Text(At(training, "samples_per_s")) + " samples/s\n";
  out += "- final loss " + Text(At(training, "final_loss")) + "\n";
}

}  // namespace

std::string RenderReport(const Json& report) {
  std::string out;
  AddHead(report, out);
  AddFindings(report, out);
  AddAttempts(report, out);
  AddTimes(report, out);
  AddTraining(report, out);
  const Json& next = At(report, "next");
  out += "\n## Next\n\n" + Text(At(next, "text"));
  if (const auto& command = At(next, "command");
      command.is_string() && !command.get_ref<const std::string&>().empty()) {
    out += ":\n\n    " + Text(command);
  }
  out += "\n";
  return out;
}

}  // namespace muster::record

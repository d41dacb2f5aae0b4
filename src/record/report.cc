// SPDX-License-Identifier: Apache-2.0
#include "record/report.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "record/run_record.h"

namespace muster::record {
namespace {

constexpr std::string_view kSchema = "muster.report/1";

double Seconds(WallTime from, WallTime to) {
  return std::max(0.0, std::chrono::duration<double>(to - from).count());
}

// Milliseconds are enough for people, and keep the document readable.
double Rounded(double value) {
  return std::round(value * 1000) / 1000;
}

Json ValueJson(const Fact& fact, std::string_view field) {
  const auto found = fact.fields.find(std::string(field));
  if (found == fact.fields.end()) {
    return nullptr;
  }
  return std::visit([](const auto& value) { return Json(value); },
                    found->second);
}

// A field that holds a document; null when it holds none.
Json DocumentJson(const Fact& fact, std::string_view field) {
  auto json = ParseJson(fact.Text(field), Cause::kFileCorrupt, field);
  return json ? *std::move(json) : Json();
}

Json OrNull(std::optional<std::int64_t> value) {
  return value ? Json(*value) : Json();
}

Json FailureJson(const AttemptRecord& attempt, const AttemptRecord* next) {
  if (!attempt.failed) {
    return nullptr;
  }
  const Fact& failed = *attempt.failed;
  Json json;
  json["cause"] = failed.Text("cause");
  json["kind"] = failed.Text("kind");
  json["rank"] = ValueJson(failed, "rank");
  json["signal"] = ValueJson(failed, "signal_name");
  json["code"] = ValueJson(failed, "code");
  json["at"] = ToString(failed.at);
  json["step"] = OrNull(attempt.Most("step"));
  json["resumed_from"] = OrNull(ResumedFrom(attempt, next));
  json["lost_steps"] = OrNull(LostSteps(attempt, next));
  return json;
}

Json RankJson(int rank, const AttemptRecord& attempt) {
  Json json;
  json["rank"] = rank;
  if (const auto started = attempt.started.find(rank);
      started != attempt.started.end()) {
    json["pid"] = started->second.Number("pid");
    json["started"] = ToString(started->second.at);
  }
  const auto exited = attempt.exited.find(rank);
  if (exited == attempt.exited.end()) {
    return json;
  }
  const Fact& fact = exited->second;
  json["ended"] = ToString(fact.at);
  for (const char* field :
       {"code", "signal_name", "sent_signal", "cause", "message", "phase",
        "step", "resumed_step", "checkpoint_step", "steps", "samples", "loss",
        "step_s", "input_wait_s", "evaluate_s", "checkpoint_s"}) {
    if (fact.Has(field)) {
      json[field] = ValueJson(fact, field);
    }
  }
  return json;
}

Json AttemptsJson(const RunRecord& run) {
  Json attempts = Json::array();
  for (const auto& [number, attempt] : run.attempts) {
    Json json;
    json["attempt"] = number;
    json["started"] =
        attempt.launched ? Json(ToString(attempt.launched->at)) : Json();
    json["ended"] =
        attempt.stopped ? Json(ToString(attempt.stopped->at)) : Json();
    json["failure"] = FailureJson(attempt, run.Next(number));
    json["decision"] =
        attempt.decided ? Json(attempt.decided->Text("text")) : Json();
    json["ranks"] = Json::array();
    std::set<int> ranks;
    for (const auto* known : {&attempt.started, &attempt.exited}) {
      for (const auto& [rank, fact] : *known) {
        ranks.insert(rank);
      }
    }
    for (const int rank : ranks) {
      json["ranks"].push_back(RankJson(rank, attempt));
    }
    attempts.push_back(std::move(json));
  }
  return attempts;
}

// Where the time of a run went.
struct Times {
  double wait = 0, start = 0, step = 0, input = 0, evaluate = 0, checkpoint = 0,
         lost = 0;

  double Sum() const {
    return wait + start + step + input + evaluate + checkpoint + lost;
  }
};

void AddAttempt(const AttemptRecord& attempt, const AttemptRecord* next,
                Times& times) {
  const double steps = attempt.Mean("steps");
  const double lost_steps = std::min(
      steps, static_cast<double>(
                 attempt.failed ? LostSteps(attempt, next).value_or(0) : 0));
  const double lost = steps > 0 ? lost_steps / steps : 0;
  const double all = attempt.Mean("step_s");
  const double input = attempt.Mean("input_wait_s");
  times.step += (all - input) * (1 - lost);
  times.input += input * (1 - lost);
  times.lost += all * lost;
  times.evaluate += attempt.Mean("evaluate_s");
  times.checkpoint += attempt.Mean("checkpoint_s");
}

Times TimesOf(const RunRecord& run) {
  Times times;
  const AttemptRecord* before = nullptr;
  for (const auto& [number, attempt] : run.attempts) {
    AddAttempt(attempt, run.Next(number), times);
    if (before != nullptr && before->failed && attempt.launched) {
      const Fact& going =
          attempt.first_step ? *attempt.first_step : *attempt.launched;
      times.lost += Seconds(before->failed->at, going.at);
    } else {
      if (attempt.called && attempt.gathered) {
        times.wait += Seconds(attempt.called->at, attempt.gathered->at);
      }
      if (attempt.launched && attempt.first_step) {
        times.start += Seconds(attempt.launched->at, attempt.first_step->at);
      }
    }
    before = &attempt;
  }
  return times;
}

Json TimeJson(const RunRecord& run, double total) {
  const Times times = TimesOf(run);
  Json json;
  json["total_s"] = Rounded(total);
  json["wait_for_members_s"] = Rounded(times.wait);
  json["start_s"] = Rounded(times.start);
  json["step_s"] = Rounded(times.step);
  json["input_wait_s"] = Rounded(times.input);
  json["evaluate_s"] = Rounded(times.evaluate);
  json["checkpoint_s"] = Rounded(times.checkpoint);
  json["lost_by_failures_s"] = Rounded(times.lost);
  json["other_s"] = Rounded(std::max(0.0, total - times.Sum()));
  return json;
}

Json TrainingJson(const RunRecord& run) {
  const AttemptRecord* attempt = run.Trained();
  if (attempt == nullptr) {
    return nullptr;
  }
  const double seconds = attempt->Mean("step_s");
  double samples = 0;
  bool finite = true;
  for (const Fact* fact : attempt->Reporting()) {
    samples += Decimal(*fact, "samples");
    finite = finite && ValueJson(*fact, "loss").is_number();
  }
  Json json;
  json["step"] = *attempt->Most("step");
  json["steps_per_s"] =
      seconds > 0 ? Json(Rounded(attempt->Mean("steps") / seconds)) : Json();
  json["samples_per_s"] =
      seconds > 0 ? Json(Rounded(samples / seconds)) : Json();
  json["final_loss"] = finite ? Json(attempt->Mean("loss")) : Json();
  return json;
}

Json ContainmentJson(const RunRecord& run) {
  Json hosts = Json::array();
  for (const auto& [host, fact] : run.containment) {
    Json json{{"host", host}, {"by", fact.Text("by")}};
    for (const char* field : {"cgroup", "why_not"}) {
      if (fact.Has(field)) {
        json[field] = fact.Text(field);
      }
    }
    hosts.push_back(std::move(json));
  }
  return hosts;
}

// In the order of time, but last what was only said before the start.
Json FindingsJson(const RunRecord& run) {
  Json findings = Json::array();
  for (const bool beside : {false, true}) {
    for (const Fact& finding : run.findings) {
      auto json = DocumentJson(finding, "finding");
      if (!json.is_null() && finding.Has("beside") == beside) {
        findings.push_back(std::move(json));
      }
    }
  }
  return findings;
}

Json NextJson(const RunRecord& run, const Json& findings) {
  Json json;
  const std::string folder = run.started ? run.started->Text("folder") : "";
  const bool good = run.ended && run.ended->Number("exit_code") == 0;
  if (good) {
    json["text"] =
        run.Trained() == nullptr ? "nothing left to do" : "plot the metrics";
    json["command"] = run.Trained() == nullptr
                          ? ""
                          : "tensorboard --logdir " + folder + "/metrics";
    return json;
  }
  for (const Json& finding : findings) {
    for (const Json& fix : finding["fixes"]) {
      if (const auto command = fix.value("command", ""); !command.empty()) {
        json["text"] = fix.value("text", "");
        json["command"] = command;
        return json;
      }
    }
  }
  const std::string cause = run.ended ? run.ended->Text("cause") : "";
  json["text"] = "read about the cause";
  json["command"] = cause.empty() ? "" : "muster explain " + cause;
  return json;
}

}  // namespace

Json BuildReport(std::span<const Fact> facts) {
  const RunRecord run = ReadRecord(facts);
  const Fact started = run.started.value_or(Fact{});
  const WallTime end = run.ended       ? run.ended->at
                       : facts.empty() ? WallTime{}
                                       : facts.back().at;
  const double total = run.started ? Seconds(started.at, end) : 0;
  Json report;
  report["schema"] = kSchema;
  report["run"] = started.Text("run");
  report["version"] = started.Text("version");
  report["command"] = DocumentJson(started, "argv");
  report["directory"] = started.Text("directory");
  report["host"] = started.Text("host");
  report["started"] = ToString(started.at);
  report["ended"] = run.ended ? Json(ToString(end)) : Json();
  report["duration_s"] = Rounded(total);
  report["exit"] = nullptr;
  if (run.ended) {
    const std::string cause = run.ended->Text("cause");
    report["exit"] = {{"code", run.ended->Number("exit_code")},
                      {"origin", run.ended->Text("origin")},
                      {"cause", cause.empty() ? Json() : Json(cause)},
                      {"text", run.ended->Text("text")}};
  }
  report["cluster"] = DocumentJson(started, "cluster");
  report["notes"] = Json::array();
  for (const Fact& note : run.notes) {
    report["notes"].push_back(note.Text("text"));
  }
  report["containment"] = ContainmentJson(run);
  report["attempts"] = AttemptsJson(run);
  report["time"] = TimeJson(run, total);
  report["training"] = TrainingJson(run);
  report["findings"] = FindingsJson(run);
  report["next"] = NextJson(run, report["findings"]);
  return report;
}

}  // namespace muster::record

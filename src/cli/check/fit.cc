// SPDX-License-Identifier: Apache-2.0
// `muster check fit --params N --activations SIZE --on ACCELERATOR`.
#include <algorithm>
#include <cmath>

#include "accelerator/device_files.h"
#include "accelerator/specs.h"
#include "base/json.h"
#include "base/text.h"
#include "check/check.h"
#include "cli/verbs.h"
#include "muster/version.h"
#include "program/fit/fit.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

constexpr std::string_view kFitSchema = "muster.fit/1";

// What is asked, and what the sum says.
struct FitReport {
  program::FitRequest request;
  accelerator::TargetDevices target;
  std::string source;  // "flag --on", or the device of this host
  program::Fit fit;
  const accelerator::Specs* smallest = nullptr;  // nullptr: none
  std::optional<int> sharded_over;               // devices of the target's kind

  double memory() const { return static_cast<double>(target.specs->memory); }
  bool fits() const { return fit.bytes <= memory(); }
};

std::string SizeText(double bytes) {
  return BytesText(static_cast<std::uint64_t>(std::max(0.0, bytes)));
}

Result<FitReport> Here(const sys::Fs& fs) {
  auto found = accelerator::FindAccelerators(fs);
  std::erase_if(found, [](const auto& one) { return one.path.empty(); });
  if (found.empty()) {
    return Error(Cause::kDeviceMissing,
                 "flag --on is `here`, but no accelerator is visible");
  }
  const accelerator::Specs* specs = accelerator::SpecsOf(found.front().kind);
  if (specs == nullptr) {
    return Error(Cause::kUsageInvalid,
                 "flag --on is `here`, but the memory size of `" +
                     Printable(found.front().kind) +
                     "` is unknown: name an accelerator of the same size");
  }
  FitReport report;
  report.target = {
      .specs = specs,
      .count = static_cast<int>(found.size()) * specs->devices_per_chip};
  report.source = found.front().path + ", " + Printable(found.front().kind);
  return report;
}

Result<FitReport> Estimate(const FitFlags& flags, const sys::Fs& fs) {
  FitReport report{.source = "flag --on"};
  if (flags.on == "here") {
    MUSTER_ASSIGN(report, Here(fs));
  } else {
    MUSTER_ASSIGN(report.target, accelerator::ParseTargetDevices(flags.on));
  }
  report.request = {.optimizer = flags.optimizer,
                    .dtype = flags.dtype,
                    .activations = flags.activations,
                    .sharded = flags.sharded};
  MUSTER_ASSIGN(report.request.params, program::ParseParams(flags.params));
  MUSTER_ASSIGN(report.fit,
                program::EstimateFit(report.request, report.target.count));
  report.smallest = program::SmallestThatFits(report.fit.bytes);
  if (!report.fits()) {
    MUSTER_ASSIGN(
        report.sharded_over,
        program::DevicesThatFit(report.request, *report.target.specs));
  }
  return report;
}

std::string FitLine(std::string_view head, const std::string& text) {
  std::string line(head);
  line.resize(std::max<std::size_t>(18, head.size() + 1), ' ');
  return line + text + "\n";
}

std::string TargetText(const FitReport& report) {
  return std::string(report.target.specs->name) + " (" + report.source + "), " +
         Count(report.target.count, "device") + ", " +
         (report.request.sharded ? "state sharded over them"
                                 : "state replicated on each");
}

std::string WayOut(const FitReport& report) {
  std::string text =
      report.smallest == nullptr
          ? "no known accelerator can hold it on one device"
          : "the smallest accelerator that can hold it on one device is " +
                std::string(report.smallest->name) + " (" +
                SizeText(static_cast<double>(report.smallest->memory)) + ")";
  if (report.sharded_over) {
    text += "; with --sharded it fits on " +
            Count(*report.sharded_over, "device") + " of " +
            std::string(report.target.specs->name);
  }
  return text;
}

std::string SumText(const FitReport& report) {
  return SizeText(report.fit.bytes) + " of " + SizeText(report.memory()) +
         " per device";
}

Finding TooLarge(const FitReport& report, WallTime now) {
  Finding finding = FromError(
      Error(Cause::kOomDevice,
            "the step needs about " + SizeText(report.fit.bytes) +
                ", but a device of " + std::string(report.target.specs->name) +
                " has " + SizeText(report.memory()) + ": " +
                SizeText(report.fit.bytes - report.memory()) + " too much"),
      Confidence::kLikely);
  finding.evidence.push_back(
      {.what = WayOut(report), .source = "arithmetic", .at = now});
  return finding;
}

void PrintText(const FitReport& report, const sys::Env& env, WallTime now) {
  std::string text = FitLine("on", TargetText(report));
  for (const program::FitTerm& term : report.fit.terms) {
    text += FitLine(term.name, SizeText(term.bytes) + " = " + term.formula);
  }
  text += FitLine("sum", SumText(report)) + "\n";
  if (report.fits()) {
    text += "ok: it is estimated to fit, with " +
            SizeText(report.memory() - report.fit.bytes) + " to spare; " +
            WayOut(report) + "\n";
  } else {
    const Finding finding = TooLarge(report, now);
    text += RenderText(std::span(&finding, 1), sys::TerminalOptions(env, 1)) +
            "\nFAIL: it is estimated not to fit\n";
  }
  sys::PrintResult(text);
}

void PrintJson(const FitReport& report, WallTime now) {
  Json document{{"schema", kFitSchema},
                {"muster", kVersion},
                {"on", report.target.specs->name},
                {"source", report.source},
                {"devices", report.target.count},
                {"sharded", report.request.sharded},
                {"verdict", report.fits() ? "pass" : "fail"},
                {"bytes", std::llround(report.fit.bytes)},
                {"memory_per_device", report.target.specs->memory},
                {"terms", Json::array()},
                {"smallest", nullptr},
                {"findings", Json::array()},
                {"exit", report.fits() ? 0 : 1}};
  for (const program::FitTerm& term : report.fit.terms) {
    document["terms"].push_back({{"name", term.name},
                                 {"bytes", std::llround(term.bytes)},
                                 {"formula", term.formula}});
  }
  if (report.smallest != nullptr) {
    document["smallest"] = report.smallest->name;
  }
  if (report.sharded_over) {
    document["sharded_over"] = *report.sharded_over;
  }
  if (!report.fits()) {
    document["findings"].push_back(muster::ToJson(TooLarge(report, now)));
  }
  sys::PrintDocument(document);
}

void PrintSkip(settings::Output output, const std::string& why) {
  if (output == settings::Output::kJson) {
    sys::PrintDocument({{"schema", kFitSchema},
                        {"muster", kVersion},
                        {"verdict", "skip"},
                        {"detail", why},
                        {"findings", Json::array()},
                        {"exit", 3}});
  } else {
    sys::PrintResult("skip: " + why + "\n");
  }
}

}  // namespace

Result<int> CheckFitVerb(const CommandLine& line,
                         const settings::Settings& settings,
                         const sys::Host& host) {
  if (settings.output.value == settings::Output::kJsonl) {
    return Error(Cause::kUsageInvalid, settings.output.source +
                                           " is `jsonl`, but an estimate is "
                                           "one result: expected text or json");
  }
  const auto report = Estimate(line.fit, host.fs);
  if (!report) {
    if (report.error().cause() == Cause::kDeviceMissing) {
      PrintSkip(settings.output.value, report.error().message());
      return 3;
    }
    return report.error();
  }
  if (settings.output.value == settings::Output::kJson) {
    PrintJson(*report, host.clock.WallNow());
  } else {
    PrintText(*report, host.env, host.clock.WallNow());
  }
  return report->fits() ? 0 : 1;
}

}  // namespace muster::cli

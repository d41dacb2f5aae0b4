// SPDX-License-Identifier: Apache-2.0
#include "program/graph/program_graph.h"

#include <algorithm>

#include "base/text.h"

namespace muster::program {
namespace {

// The file of a folder that is a SavedModel.
Result<std::string> FileOfFolder(const std::string& folder,
                                 const std::vector<std::string>& names) {
  for (const char* name : {"saved_model.pb", "saved_model.pbtxt"}) {
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return sys::JoinPath(folder, name);
    }
  }
  return Error(
      Cause::kUsageInvalid,
      "`" + Printable(folder) +
          "` is a folder without saved_model.pb: use a SavedModel, or a file");
}

std::string FormText(const program::graph::GraphFile& file) {
  return std::string(file.form == program::graph::Form::kSavedModel
                         ? "SavedModel"
                         : "GraphDef") +
         (file.text ? " (text)" : "");
}

std::string PassText(const GraphAnswer& answer) {
  std::size_t operations = 0;
  for (const program::graph::Judged& one : answer.judged) {
    operations += one.operations;
  }
  if (operations == 0) {
    return "it contains no operations for a TPU";
  }
  return "TPUs have a kernel for " +
         (operations == 1
              ? std::string("the one operation")
              : "each of " +
                    Count(static_cast<std::int64_t>(operations), "operation")) +
         "; only a compiler can check whether it fits";
}

Status CheckFlags(const ProgramRequest& request) {
  if (request.replicas || request.partitions) {
    return Error(Cause::kUsageInvalid,
                 "flags --replicas and --partitions are for StableHLO, but `" +
                     Printable(request.file) +
                     "` is a TensorFlow graph, which is not compiled");
  }
  return Ok();
}

Result<ProgramReport> JudgeGraphs(const ProgramRequest& request,
                                  std::string bytes) {
  ProgramReport report;
  auto file = program::graph::ReadGraphFile(std::move(bytes));
  if (!file) {
    std::vector<Finding> findings{FromError(file.error().Reworded(
        "`" + Printable(request.file) + "`: " + file.error().message()))};
    report.outcome = Judge(std::move(findings), "");
    return report;
  }
  MUSTER_ASSIGN(program::graph::Judgement judgement,
                program::graph::JudgeGraph(*file, request.signature));
  report.graph =
      GraphAnswer{.form = FormText(*file),
                  .tensorflow = std::string(file->graphs.front().version),
                  .judged = std::move(judgement.judged),
                  .notes = std::move(judgement.notes)};
  for (Finding& finding : judgement.findings) {
    finding.subjects = {request.file, request.on};
  }
  report.outcome =
      Judge(std::move(judgement.findings), PassText(*report.graph));
  return report;
}

}  // namespace

Result<std::optional<ProgramReport>> CheckGraph(const ProgramRequest& request,
                                                const sys::Host& host) {
  const std::optional<ProgramReport> none;
  std::string path = request.file;
  const auto names = host.fs.List(path);
  if (names) {
    MUSTER_ASSIGN(path, FileOfFolder(path, *names));
  } else if (path.ends_with(".json")) {
    return none;
  }
  auto bytes = host.fs.ReadNamed(path, pjrt::kModuleLimit);
  if (!bytes && names) {
    return std::move(bytes).error();
  }
  if (!bytes || (!names && !program::graph::LooksLikeGraph(*bytes))) {
    return none;
  }
  MUSTER_TRY(CheckFlags(request));
  MUSTER_ASSIGN(ProgramReport report, JudgeGraphs(request, *std::move(bytes)));
  return std::optional(std::move(report));
}

}  // namespace muster::program

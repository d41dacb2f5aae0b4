// SPDX-License-Identifier: Apache-2.0
// Memory of the GPUs that is taken before anything starts, and by whom, as
// nvidia-smi tells it. The memory of a TPU belongs to who has it open, which
// accelerator.free names.
#include <algorithm>

#include "base/text.h"
#include "check/check.h"

namespace muster::check::accelerator_memory {
namespace {

// For both questions; nvidia-smi takes seconds where nothing keeps the driver
// loaded.
constexpr std::chrono::seconds kTimeout{4};
// The driver itself takes some on every GPU.
constexpr std::int64_t kDriversMib = 1024;
constexpr std::int64_t kFewPercent = 5;

// Rows of `--format=csv,noheader,nounits`.
std::vector<std::vector<std::string>> Rows(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : Split(text, '\n')) {
    std::vector<std::string> cells;
    for (const std::string& cell : Split(line, ',')) {
      cells.emplace_back(Trim(cell));
    }
    if (cells.size() > 1) {
      rows.push_back(std::move(cells));
    }
  }
  return rows;
}

Result<std::vector<std::vector<std::string>>> Ask(const Context& context,
                                                  const std::string& query,
                                                  Deadline deadline) {
  MUSTER_ASSIGN(
      const std::string text,
      context.machine.Ask(
          {"nvidia-smi", query, "--format=csv,noheader,nounits"}, deadline));
  return Rows(text);
}

// "python3 (41) 30000 MiB" of each process that is visible from here.
std::vector<std::string> Takers(const Context& context, const std::string& uuid,
                                Deadline deadline) {
  const auto rows = Ask(
      context, "--query-compute-apps=gpu_uuid,pid,used_gpu_memory,process_name",
      deadline);
  std::vector<std::string> takers;
  if (!rows) {
    return takers;
  }
  for (const auto& row : *rows) {
    if (row.size() > 3 && row[0] == uuid) {
      takers.push_back(Printable(row[3]) + " (" + Printable(row[1]) + ") " +
                       Printable(row[2]) + " MiB");
    }
  }
  return takers;
}

struct Gpu {
  std::string index, uuid;
  std::int64_t used = 0, total = 0;  // MiB
};

std::optional<Gpu> GpuOf(const std::vector<std::string>& row) {
  if (row.size() < 4) {
    return std::nullopt;
  }
  const auto used = ParseInt(row[2]);
  const auto total = ParseInt(row[3]);
  // Some boards share the memory of the host and say "[N/A]".
  if (!used || !total || *total <= 0) {
    return std::nullopt;
  }
  return Gpu{.index = Printable(row[0]),
             .uuid = row[1],
             .used = *used,
             .total = *total};
}

Finding Taken(const Context& context, const Gpu& gpu, Deadline deadline) {
  const std::string seen =
      std::to_string(gpu.used) + " of " + std::to_string(gpu.total) + " MiB";
  auto takers = Takers(context, gpu.uuid, deadline);
  takers.resize(std::min<std::size_t>(takers.size(), 4));
  Finding finding = MakeProblem(
      context, Cause::kDeviceBusy,
      seen + " of GPU " + gpu.index + " are already in use",
      {{seen, "nvidia-smi"},
       {takers.empty() ? "by no visible process" : Join(takers, ", "),
        "nvidia-smi"}},
      Confidence::kLikely);
  finding.subjects = {"GPU " + gpu.index};
  return finding;
}

Outcome Run(const Context& context) {
  if (GpuDevices(context.host.fs).empty()) {
    return Skip(TpuDevices(context.host.fs).empty()
                    ? "no NVIDIA GPU is visible here"
                    : "the process that opens a TPU gets all of its memory");
  }
  const Deadline deadline = Deadline::After(kTimeout);
  const auto rows =
      Ask(context, "--query-gpu=index,uuid,memory.used,memory.total", deadline);
  if (!rows && rows.error().cause() == Cause::kProgramNotFound) {
    return Skip("nvidia-smi is not installed");
  }
  if (!rows) {
    return Broken(rows.error().message());
  }
  std::vector<Finding> findings;
  std::vector<std::string> good;
  for (const auto& row : *rows) {
    const auto gpu = GpuOf(row);
    if (!gpu) {
      continue;
    }
    if (gpu->used > std::max(kDriversMib, gpu->total * kFewPercent / 100)) {
      findings.push_back(Taken(context, *gpu, deadline));
    } else {
      good.push_back("GPU " + gpu->index + " " + std::to_string(gpu->used) +
                     " of " + std::to_string(gpu->total) + " MiB in use");
    }
  }
  return findings.empty() && good.empty()
             ? Broken("nvidia-smi reports no memory for any GPU")
             : Judge(std::move(findings), Join(good, ", "));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "accelerator.memory",
                   .title = "the GPU memory is free",
                   .may_wait = true,
                   // GPUs may be shared.
                   .severity = Severity::kWarning,
                   // Slow where nothing keeps the driver loaded.
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::accelerator_memory

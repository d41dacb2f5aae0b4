// SPDX-License-Identifier: Apache-2.0
// What it costs to resolve a large cluster: a Slurm list of 4,096 hosts and a
// TF_CONFIG of 4,096 addresses. Prints the median of 51 and the goal; exit 1
// when one is missed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "resolve/resolve.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"

namespace muster::resolve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kHosts = 4096;
constexpr double kGoalMs = 5;

std::map<std::string, std::string> SlurmStep() {
  return {
      {"SLURM_JOB_ID", "12345"},
      {"SLURM_PROCID", "4095"},
      {"SLURM_LOCALID", "0"},
      {"SLURM_NTASKS", std::to_string(kHosts)},
      {"SLURM_STEP_NODELIST", "rack[0-63]-n[" + std::string("00-63") + "]-ib0"},
      {"SLURM_STEP_TASKS_PER_NODE", "1(x" + std::to_string(kHosts) + ")"}};
}

std::map<std::string, std::string> TfConfig() {
  std::string text = R"({"cluster": {"worker": [)";
  for (int i = 0; i < kHosts; ++i) {
    text += (i > 0 ? ", " : "") + std::string("\"worker-") + std::to_string(i) +
            ".team.svc.cluster.local:2222\"";
  }
  return {{"TF_CONFIG",
           text + R"(]}, "task": {"type": "worker", "index": 4095}})"}};
}

// Milliseconds, the median.
double Measure(const std::map<std::string, std::string>& variables) {
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  env.variables = variables;
  env.hostname = "elsewhere";
  std::vector<double> times;
  for (int i = 0; i < 51; ++i) {
    const auto from = Clock::now();
    const auto resolved = Resolve({}, {env, clock, fs});
    times.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - from).count());
    if (!resolved || resolved->cluster.size.value != kHosts) {
      std::fprintf(
          stderr, "not resolved: %s\n",
          resolved ? "another size" : resolved.error().ToString().c_str());
      return 1e9;
    }
  }
  std::nth_element(times.begin(), times.begin() + 25, times.end());
  return times[25];
}

}  // namespace
}  // namespace muster::resolve

int main() {
  using namespace muster::resolve;  // NOLINT(google-build-using-namespace)
  int missed = 0;
  for (const auto& [name, variables] :
       {std::pair("Slurm list of 4096 hosts", SlurmStep()),
        std::pair("TF_CONFIG of 4096 addresses", TfConfig())}) {
    const double ms = Measure(variables);
    missed += ms > kGoalMs ? 1 : 0;
    std::printf("%-28s %8.2f ms  goal %.0f ms\n", name, ms, kGoalMs);
  }
  return missed == 0 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// Bodies of the metadata server, the Cloud TPU API, Compute Engine and
// Kubernetes; the first byte picks the path that gives the fuzzed one.
#include <cstdint>
#include <string>

#include "resolve/resolve.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"
#include "sys/fake/fake_http.h"
#include "tests/fuzz/fuzz.h"

namespace {

constexpr const char* kMetadata =
    "http://metadata.google.internal/computeMetadata/v1/instance/attributes/";
constexpr const char* kZone = "https://g.invalid/projects/p/zones/z/";

void Give(muster::sys::FakeHttp& http, const std::string& url,
          const std::string& body) {
  http.answers[url].response = {
      .status = 200, .headers = {{"metadata-flavor", "Google"}}, .body = body};
}

}  // namespace

void Fuzz(const std::string& bytes) {
  if (bytes.empty()) {
    return;
  }
  const std::string text = bytes.substr(1);
  muster::sys::FakeEnv env;
  muster::sys::FakeClock clock;
  muster::sys::FakeFs fs;
  muster::sys::FakeHttp http;
  const muster::sys::Host host{
      .env = env, .clock = clock, .fs = fs, .http = &http};
  muster::resolve::Request request;
  request.cloud.project = "p";
  request.cloud.zone = "z";
  request.source = "gce-tpu-vm";
  const std::string metadata = kMetadata;
  Give(http, metadata + "agent-worker-number", "0");
  Give(http, metadata + "worker-network-endpoints", "a,b");
  Give(http, metadata + "tpu-env", "ACCELERATOR_TYPE: 'v4-16'");
  const std::string pod = "https://10.0.0.1:443/api/v1/namespaces/n/pods";
  const std::string job =
      "https://10.0.0.1:443/apis/batch/v1/namespaces/n/jobs/j";
  switch (static_cast<unsigned char>(bytes[0]) % 8) {
    case 0:
      Give(http, metadata + "tpu-env", text);
      break;
    case 1:
      Give(http, metadata + "worker-network-endpoints", text);
      break;
    case 2:
      request.source = "tpu";
      request.cloud.tpu = "t";
      Give(http, "https://tpu.googleapis.com/v2/projects/p/locations/z/nodes/t",
           text);
      break;
    case 3:
    case 4:
      request.source = "gce-group";
      request.cloud.instance_group = "g";
      env.variables["CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE"] =
          "https://g.invalid/";
      Give(http, std::string(kZone) + "instanceGroups/g/listInstances",
           static_cast<unsigned char>(bytes[0]) % 8 == 3
               ? text
               : R"({"items": [{"instance": "x/i"}]})");
      Give(http, std::string(kZone) + "instances/i", text);
      break;
    default:
      request.source = static_cast<unsigned char>(bytes[0]) % 8 == 5
                           ? "k8s-pods"
                           : "k8s-job";
      env.variables = {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                       {"HOSTNAME", "w"},
                       {"JOB_COMPLETION_INDEX", "0"},
                       {"MUSTER_SERVICE_ACCOUNT", "/a"}};
      fs.files = {{"/a/token", "t"}, {"/a/namespace", "n"}};
      Give(http, pod, text);
      Give(http, pod + "/w",
           static_cast<unsigned char>(bytes[0]) % 8 == 6
               ? text
               : R"({"metadata": {"ownerReferences": [{"kind": "Job",
                    "name": "j", "controller": true}]}})");
      Give(http, job, text);
  }
  static_cast<void>(muster::resolve::Resolve(request, host));
}

// SPDX-License-Identifier: Apache-2.0
#include "cloud/auth/metadata.h"

#include "base/text.h"

namespace muster::cloud {
namespace {

constexpr const char* kFlavor = "metadata-flavor";
constexpr std::size_t kMaxMetadata = 1U << 20;

bool IsTrue(const std::string& text) {
  return text == "1" || text == "true" || text == "True" || text == "TRUE";
}

bool IsHtml(const sys::HttpResponse& response) {
  const auto body = Trim(response.body);
  return response.Header("content-type").starts_with("text/html") ||
         body.starts_with("<!") || body.starts_with("<html");
}

}  // namespace

Metadata::Metadata(const sys::Host& host) : host_(host) {
  const auto server = sys::FirstSet(
      host.env, {"GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP"});
  server_ = server ? server->value : "metadata.google.internal";
}

std::string Metadata::SwitchedOff() const {
  if (host_.http == nullptr) {
    return "network access is disabled";
  }
  const std::string off = host_.env.Get("NO_GCE_CHECK").value_or("");
  if (IsTrue(off)) {
    return "NO_GCE_CHECK=" + Printable(off) + " disables the metadata server";
  }
  if (sys::IsSet(host_.env, "TPU_SKIP_MDS_QUERY")) {
    return "TPU_SKIP_MDS_QUERY disables the metadata server";
  }
  if (sys::IsSet(host_.env, "GCE_METADATA_HOST")) {
    return "";
  }
  const std::string product = "/sys/class/dmi/id/product_name";
  const auto name = host_.fs.Read(product, 4096);
  if (name && !Trim(*name).starts_with("Google")) {
    return "this machine is `" + Printable(Trim(*name)) + "` (" + product +
           "), not a Google Cloud machine: the metadata server was not queried";
  }
  return "";
}

std::string Metadata::Url(const std::string& path) const {
  return "http://" + server_ + "/computeMetadata/v1" +
         (path.empty() ? "" : "/" + path);
}

Result<std::optional<std::string>> Metadata::Get(
    const std::string& path) const {
  using Value = std::optional<std::string>;
  if (host_.http == nullptr) {
    return Error(Cause::kLaunchEnvMissing, "network access is disabled");
  }
  sys::HttpRequest request{.url = Url(path), .most_bytes = kMaxMetadata};
  request.headers["Metadata-Flavor"] = "Google";
  MUSTER_ASSIGN(auto response, host_.http->Send(request));
  if (response.status >= 500) {
    // It restarts now and then; once more, then it counts as silent.
    MUSTER_ASSIGN(response, host_.http->Send(request));
  }
  if (response.Header(kFlavor) != "Google") {
    return Error(Cause::kNetWrongEndpoint,
                 request.url + " returned " + std::to_string(response.status) +
                     " without the header Metadata-Flavor: Google, so it is "
                     "not a metadata server");
  }
  if (response.status == 404 || (response.status == 200 && IsHtml(response))) {
    return Value();
  }
  if (response.status != 200) {
    return Error(response.status == 403 ? Cause::kCloudPermissionDenied
                                        : Cause::kNetWrongEndpoint,
                 "the metadata server returned " +
                     std::to_string(response.status) + " for " + request.url);
  }
  return Value(std::string(Trim(response.body)));
}

Result<std::optional<std::string>> Metadata::Attribute(
    const std::string& name) const {
  return Get("instance/attributes/" + name);
}

bool Metadata::Answers() const {
  if (!SwitchedOff().empty()) {
    return false;
  }
  sys::HttpRequest request{.url = Url("")};
  request.headers["Metadata-Flavor"] = "Google";
  const auto response = host_.http->Send(request);
  return response && response->Header(kFlavor) == "Google";
}

std::string Metadata::SourceOf(const std::string& attribute) {
  return "metadata attribute " + attribute;
}

}  // namespace muster::cloud

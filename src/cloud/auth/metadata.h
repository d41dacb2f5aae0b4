// SPDX-License-Identifier: Apache-2.0
// The metadata server of Google's machines, asked so that nothing else is taken
// for it: the header Metadata-Flavor goes both ways, a page is no value.
#pragma once

#include <optional>
#include <string>

#include "muster/error.h"
#include "sys/host.h"

namespace muster::cloud {

// Main thread; every question costs at most the deadlines of sys::HttpRequest,
// and answers are as cached as host.http is.
class Metadata {
 public:
  explicit Metadata(const sys::Host& host);

  // Why it is not to be asked: no network, a variable switches it off, the
  // machine says it is not Google's. Empty: it may be asked.
  std::string SwitchedOff() const;

  // The value below /computeMetadata/v1/; nullopt when the server has none
  // (404, a page). Errors: what sys::Http says; net-wrong-endpoint when the
  // answer does not come from a metadata server.
  Result<std::optional<std::string>> Get(const std::string& path) const;
  Result<std::optional<std::string>> Attribute(const std::string& name) const;

  // A metadata server answers: this is a machine of Compute Engine.
  bool Answers() const;
  // "metadata attribute agent-worker-number".
  static std::string SourceOf(const std::string& attribute);
  std::string Url(const std::string& path) const;

 private:
  const sys::Host& host_;
  std::string server_;
};

}  // namespace muster::cloud

// SPDX-License-Identifier: Apache-2.0
// The API of the Kubernetes cluster that this pod runs in, as its service
// account sees it.
#pragma once

#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "resolve/resolve.h"

namespace muster::resolve {

class Kubernetes {
 public:
  // launch-env-missing: this is no pod, or it has no service account.
  static Result<Kubernetes> Open(const sys::Host& host);

  // The object at a path below the server; nullopt: 404. A 403 names the verb,
  // the resource and the role that would allow it.
  Result<std::optional<Json>> Get(const std::string& path,
                                  const std::string& what,
                                  const std::string& resource) const;
  // "/api/v1/namespaces/NAMESPACE/" of this pod.
  std::string Core() const;
  const std::string& space() const { return space_; }

 private:
  explicit Kubernetes(const sys::Host& host) : host_(host) {}

  const sys::Host& host_;
  std::string server_, token_, space_, ca_file_;
};

}  // namespace muster::resolve

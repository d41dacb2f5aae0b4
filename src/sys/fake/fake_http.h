// SPDX-License-Identifier: Apache-2.0
// Http of tests; linked by them alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sys/net/http.h"

namespace muster::sys {

// For tests: answers by URL. A host without any answer does not resolve; a URL
// without one on a host that has some is 404. Query parameters that the
// listed URL does not have are ignored, as is their order.
class FakeHttp : public Http {
 public:
  struct Answer {
    HttpResponse response;
    std::string fault;  // "", nxdomain, timeout, refused
  };
  std::map<std::string, Answer> answers;
  // What a 404 of the metadata server carries.
  bool flavor_on_404 = true;
  std::vector<HttpRequest> requests;  // that were sent

  Result<HttpResponse> Send(const HttpRequest& request) override;
};

}  // namespace muster::sys

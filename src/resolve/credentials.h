// SPDX-License-Identifier: Apache-2.0
// Who asks Google's APIs: Application Default Credentials, as far as a token
// can be had without signing anything.
#pragma once

#include <string>

#include "resolve/resolve.h"

namespace muster::resolve {

struct Credentials {
  std::string token;  // never printed; empty: there are none
  // Whom a refusal names: "the user of `/home/x/adc.json`".
  std::string identity;
  std::string quota_project;  // header x-goog-user-project; empty: none
};

// The request's token, a variable's, the file that
// GOOGLE_APPLICATION_CREDENTIALS names, gcloud's own file, the metadata server.
// cloud-auth-missing: the named file is missing or holds a kind that has to be
// signed or exchanged (its kind is named, nothing of its content), or the
// user's grant was refused. What sys::Http says.
Result<Credentials> GoogleCredentials(const Request& request,
                                      const sys::Host& host);

// `request` with the headers of these credentials.
sys::HttpRequest WithCredentials(sys::HttpRequest request,
                                 const Credentials& credentials);

}  // namespace muster::resolve

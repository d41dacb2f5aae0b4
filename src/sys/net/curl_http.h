// SPDX-License-Identifier: Apache-2.0
// sys::Http over libcurl. A library of its own: the program links libcurl's
// archives, users of libmuster the system's shared one.
#pragma once

#include <memory>

#include "sys/net/http.h"

namespace muster::sys {

// http and https only, no proxy but the request's own whatever the environment
// says, no redirect.
// Names are looked up by sys::Resolve within the deadline of the request.
std::unique_ptr<Http> MakeCurlHttp();

}  // namespace muster::sys

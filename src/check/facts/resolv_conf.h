// SPDX-License-Identifier: Apache-2.0
// How this host looks names up, as /etc/resolv.conf says.
#pragma once

#include <string>
#include <vector>

#include "muster/error.h"
#include "sys/file/fs.h"

namespace muster::check {

struct Resolver {
  std::vector<std::string> servers, search, options;
};
// Errors of Fs::Read.
Result<Resolver> ReadResolver(const sys::Fs& fs);
// "nameserver 10.0.0.2, search a.internal"; "names no server".
std::string ServersText(const Resolver& resolver);

}  // namespace muster::check

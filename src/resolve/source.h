// SPDX-License-Identifier: Apache-2.0
// What a source of clusters is. Adding one: a file NAME.cc in sources/ that
// defines muster::resolve::NAME::kSource; the build finds it by its name.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "resolve/resolve.h"

namespace muster::resolve {

struct Source {
  std::string_view name;
  int precedence;  // the lowest that speaks wins
  // Empty: it speaks here. Else why not: "TF_CONFIG is not set". No errors:
  // what is there and malformed speaks, and Read says what is wrong with it.
  std::string (*match)(const Request& request, const sys::Host& host);
  // What it claims, checked in itself: sizes, ranks and addresses fit.
  Result<Claim> (*read)(const Request& request, const sys::Host& host);
};

// All of sources/, by precedence.
std::span<const Source* const> AllSources();

// A fact that this host observed in its own environment.
Fact Observed(std::string name, std::map<std::string, FactValue> fields,
              const sys::Host& host);

}  // namespace muster::resolve

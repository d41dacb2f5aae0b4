// SPDX-License-Identifier: Apache-2.0
// What is needed to explain a failure elsewhere, in one archive without
// secrets.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "muster/error.h"
#include "muster/fact.h"

namespace muster::diagnose {

struct BundleOptions {
  std::map<std::string, std::string> environment;  // of this process
  std::string version;                             // of the program
  WallTime at{};
  bool redact_emails = false;
};

struct Bundle {
  std::string archive;  // gzipped tar
  std::vector<std::string> files;
  std::map<std::string, int> removed;  // kind of secret -> how often
  std::vector<std::string> left_out;   // variables that are not on the list
  std::vector<std::string> notes;      // what was skipped or cut, and why
};

// Packs files and folders: text only, without the secrets in it and in the
// names of files; of a large file its beginning and its end. Adds
// `environment.txt` (the variables that may be shown) and `bundle.json` (schema
// muster.bundle/1: what is inside and what was removed). An Error when an input
// is not there or nothing could be packed.
Result<Bundle> MakeBundle(std::span<const std::string> inputs,
                          const BundleOptions& options);

}  // namespace muster::diagnose

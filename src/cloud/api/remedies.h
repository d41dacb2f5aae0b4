// SPDX-License-Identifier: Apache-2.0
// What to do about an error of the cloud, with the project, account, zone and
// right that it names in each command.
#pragma once

#include "finding/finding.h"
#include "muster/error.h"
#include "sys/host.h"

namespace muster::cloud {

// The fact of an error that is not certain: a zone did not answer, and what is
// not there may be in it.
inline constexpr const char* kUnlooked = "cloud.unlooked";

// The finding of the error, certain but with kUnlooked; its fixes are the
// catalog's where nothing more exact is known. Where nobody can log in as
// usual (Colab, Kaggle, any notebook), the three ways that work there.
Finding FindingOf(const Error& error, const sys::Host& host);

}  // namespace muster::cloud

// SPDX-License-Identifier: Apache-2.0
// Opening the accelerators of this host, for the checks that may.
#pragma once

#include <optional>
#include <string>

#include "check/check.h"

namespace muster::check {

// Of a check that opens; the timeout of DeviceOpenSetup ends it before.
inline constexpr std::chrono::minutes kDeviceOpenTimeout{10};
inline constexpr std::chrono::minutes kMaxTimeout{9};

// The one line that brings a plug-in: "pip install libtpu".
std::string_view InstallLine(std::string_view platform);
// "tpu" where a chip is here, "cuda" where only GPUs are, else empty.
std::string_view PlatformHere(const sys::Fs& fs);

// Opens them with the plug-in of the setup, or that which is found, counts them
// against what is expected, adds a number of each over all, and gives them
// back. skip: nothing is here, somebody holds it, or no plug-in is installed.
Outcome OpenDevices(const Context& context);

}  // namespace muster::check

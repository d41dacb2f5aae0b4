// SPDX-License-Identifier: Apache-2.0
// Secrets that only their name tells: PASSWORD=…, "api_key": "…", --token …
#pragma once

#include <string>
#include <string_view>

namespace muster::diagnose {

// Matches wherever WithoutNamed may find one; case-insensitive, RE2.
std::string_view NamedPattern();

// The text with such values replaced by "[removed: secret]"; adds their number
// to `count`. What was removed before stays as it is. Any thread.
std::string WithoutNamed(const std::string& text, int& count);

}  // namespace muster::diagnose

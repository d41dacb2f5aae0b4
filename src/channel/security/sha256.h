// SPDX-License-Identifier: Apache-2.0
// The digest by which a copy of this program is known on another host.
#pragma once

#include <string>
#include <string_view>

namespace muster::channel {

// 64 hexadecimal digits, as `sha256sum` prints them. Any thread.
std::string Sha256Hex(std::string_view bytes);

}  // namespace muster::channel

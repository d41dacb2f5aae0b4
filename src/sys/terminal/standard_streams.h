// SPDX-License-Identifier: Apache-2.0
// Standard input, output and error of this process.
#pragma once

namespace muster::sys {

// Opens something where one of them is closed, so that no file or socket gets
// its number: /dev/null, or for stdout what takes no writes. To be called
// before anything else is opened.
void OpenClosedStandardStreams();

}  // namespace muster::sys

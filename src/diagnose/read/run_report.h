// SPDX-License-Identifier: Apache-2.0
// What a run has judged itself: the findings of its report.json, and how its
// program ended.
#pragma once

#include <memory>
#include <string>

#include "diagnose/read/byte_sink.h"

namespace muster::diagnose {

// The report.json of a run: its findings go to `reported`, the status of its
// program to `ends`.
std::unique_ptr<ByteSink> MakeRunReport(std::string name,
                                        const Unpacking& unpacking);

}  // namespace muster::diagnose

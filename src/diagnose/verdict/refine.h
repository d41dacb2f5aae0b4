// SPDX-License-Identifier: Apache-2.0
// What the failing ranks have written, added to how they ended. Pure; any
// thread.
#pragma once

#include <vector>

#include "diagnose/verdict/verdict.h"
#include "muster/fact.h"

namespace muster::diagnose {

// `logs`: facts of LogScanner, each with the field `rank`.
//
// A root that is no more than "a program ended with a status" or "a rank went
// away" gets the cause that its own log names, where the log settles one
// (certain or likely). Where all ranks only lost each other, any log may name
// it. What was seen of processes stays as it is: root, victims, statuses.
void Refine(Verdict& verdict, const std::vector<Fact>& logs);

}  // namespace muster::diagnose

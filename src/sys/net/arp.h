// SPDX-License-Identifier: Apache-2.0
// Who answers on the networks of this host below IP (ARP): a host that is off
// does not, one that filters packets does.
#pragma once

#include <map>
#include <string>

#include "muster/deadline.h"

namespace muster::sys {

enum class Neighbor {
  kAnswers,  // has said so within the time that was asked for
  kSilent,   // was asked and says nothing
};

// What the kernel knows of IPv4 addresses that packets were sent to, by their
// numbers. Those behind a router are not among them, nor those of which it only
// knows from before `within`. Empty where it does not tell. Waits for nobody.
std::map<std::string, Neighbor> ArpTable(Duration within);

}  // namespace muster::sys

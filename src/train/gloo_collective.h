// SPDX-License-Identifier: Apache-2.0
// Collectives between hosts: Gloo, through the c10d of the libtorch in use.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <memory>
#include <string>

#include "muster/collective.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "muster/session.h"
#include "wire/progress_page.h"

namespace c10d {
class Store;
}

namespace muster {

// Connects the ranks of a session; its store is the meeting place. `host` is
// this rank's own address or name, of the interface to use; empty: what c10d
// chooses. Must not outlive the session. Errors: deadline-exceeded,
// net-wrong-endpoint, peer-died.
Result<std::unique_ptr<Collective>> MakeGloo(Session& session,
                                             const std::string& host,
                                             Deadline deadline);

struct GlooOptions {
  int rank = 0;
  int size = 1;
  std::string host;  // as above
  // Whose stop word ends every wait; may be null.
  const wire::Board* board = nullptr;
};
// As above, over any store of c10d. Gloo does not compare the ranks' calls: a
// mismatch ends at the deadline or as internal-error.
Result<std::unique_ptr<Collective>> MakeGlooOver(
    c10::intrusive_ptr<c10d::Store> store, const GlooOptions& options,
    Deadline deadline);

}  // namespace muster

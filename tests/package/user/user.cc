// SPDX-License-Identifier: Apache-2.0
// Joins, reduces and says who it is: the rank side without torch.
#include <muster/collective.h>
#include <muster/session.h>

#include <chrono>
#include <cstdio>

namespace {

muster::Status Work() {
  MUSTER_ASSIGN(auto session, muster::Session::Join());
  MUSTER_TRY(session->Barrier(
      "hello", muster::Deadline::After(std::chrono::seconds(20))));
  std::printf("rank %d of %d\n", session->rank(), session->world_size());
  return muster::Ok();
}

}  // namespace

int main() {
  auto status = Work();
  if (!status) {
    std::fprintf(stderr, "%s\n", status.error().ToText().c_str());
    return 1;
  }
  return 0;
}

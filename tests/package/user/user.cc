// SPDX-License-Identifier: Apache-2.0
// Joins, reduces and says who it is: the rank side without torch. With an
// argument: which cluster this is, asked of whoever knows.
#include <muster/collective.h>
#include <muster/resolve.h>
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

muster::Status Resolve() {
  MUSTER_ASSIGN(const auto cluster, muster::ResolveCluster());
  std::printf("size %d (%s)\n", cluster.size.value,
              cluster.size.source.c_str());
  return muster::Ok();
}

}  // namespace

int main(int argc, char**) {
  auto status = argc > 1 ? Resolve() : Work();
  if (!status) {
    std::fprintf(stderr, "%s\n", status.error().ToString().c_str());
    return 1;
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "connect/grpc_transport.h"

#include <gtest/gtest.h>

#include "connect/transport_conformance.h"

namespace muster::connect {
namespace {

struct GrpcHosts : TransportUnderTest {
  explicit GrpcHosts(sys::Loop& loop)
      : first(*MakeGrpcTransport(loop, clock)),
        second(*MakeGrpcTransport(loop, clock)) {}
  Transport& one() override { return *first; }
  Transport& other() override { return *second; }

  sys::RealClock clock;
  std::unique_ptr<Transport> first;
  std::unique_ptr<Transport> second;
};

INSTANTIATE_TEST_SUITE_P(Grpc, TransportTest,
                         ::testing::Values(TransportKind{
                             "grpc",
                             [](sys::Loop& loop) {
                               return std::make_unique<GrpcHosts>(loop);
                             }}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace muster::connect

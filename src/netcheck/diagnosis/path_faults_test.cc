// SPDX-License-Identifier: Apache-2.0
#include "netcheck/diagnosis/path_faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "netcheck/mesh/schedule.h"

namespace muster::netcheck {
namespace {

constexpr std::uint16_t kAgent = 8476;
constexpr std::uint16_t kCoordinator = 8471;

// A mesh of N hosts, one member each, in which everything is well.
class ModelMesh {
 public:
  using Bad = std::function<bool(int, const MeshTarget&)>;

  explicit ModelMesh(int size) : size_(size) {
    for (int rank = 0; rank < size; ++rank) {
      view_.hosts.push_back("10.0.0." + std::to_string(rank + 1));
      view_.present.insert(rank);
      view_.targets.push_back({rank, kAgent});
    }
    view_.targets.push_back({0, kCoordinator});
    for (int rank = 0; rank < size; ++rank) {
      for (const MeshTarget& target : Schedule(view_.targets, size, rank)) {
        view_.paths[{rank, target}] = Trouble::kNone;
      }
    }
  }

  void Break(Trouble trouble, const Bad& bad) {
    for (auto& [at, here] : view_.paths) {
      if (bad(at.first, at.second)) {
        here = trouble;
      }
    }
  }
  // Its member is not there: it tries nothing and says nothing.
  void Remove(int rank) {
    Break(Trouble::kUnreachable,
          [&](int, const MeshTarget& to) { return to.rank == rank; });
    std::erase_if(view_.paths,
                  [&](const auto& one) { return one.first.first == rank; });
    view_.present.erase(rank);
  }

  MeshView& view() { return view_; }
  int size() const { return size_; }

 private:
  int size_;
  MeshView view_;
};

std::string Text(const std::vector<MeshFault>& faults) {
  std::string text;
  for (const MeshFault& fault : faults) {
    text += std::string(ToString(fault.shape)) + " of";
    for (const int rank : fault.named) {
      text += " " + std::to_string(rank);
    }
    text += ", " + std::to_string(fault.paths.size()) + " paths; ";
  }
  return text;
}

// Exactly one fault, and it names these.
void ExpectOne(const MeshView& view, const std::set<int>& named,
               const std::string& what) {
  const auto faults = FindFaults(view);
  ASSERT_EQ(faults.size(), 1U) << what << ": " << Text(faults);
  for (const int rank : named) {
    EXPECT_EQ(faults.front().named.count(rank), 1U)
        << what << ": " << Text(faults);
  }
}

// All sizes of which every pair is tried, and sparse ones. A few where the
// build is not optimized, as the sanitized ones: 256 hosts take a minute there.
std::vector<int> Sizes() {
#ifdef __OPTIMIZE__
  std::vector<int> sizes(63);
  std::iota(sizes.begin(), sizes.end(), 2);
  sizes.insert(sizes.end(), {65, 100, 256});
  return sizes;
#else
  return {2, 3, 4, 5, 7, 16, 33, 64, 65};
#endif
}

class MeshFaults : public testing::TestWithParam<int> {
 protected:
  // A few ranks at the ends and in the middle of large ones, all of small ones.
  std::vector<int> Ranks() const {
    if (GetParam() <= 16) {
      std::vector<int> all(static_cast<std::size_t>(GetParam()));
      std::iota(all.begin(), all.end(), 0);
      return all;
    }
    return {0, 1, GetParam() / 2, GetParam() - 1};
  }
};

TEST_P(MeshFaults, AHealthyMeshHasNone) {
  EXPECT_TRUE(FindFaults(ModelMesh(GetParam()).view()).empty());
}

TEST_P(MeshFaults, ADeadHostIsOne) {
  for (const int rank : Ranks()) {
    ModelMesh mesh(GetParam());
    mesh.Remove(rank);
    ExpectOne(mesh.view(), {rank}, "dead " + std::to_string(rank));
  }
}

TEST_P(MeshFaults, AHostThatNobodyReachesIsOne) {
  for (const int rank : Ranks()) {
    for (const Trouble trouble : {Trouble::kUnreachable, Trouble::kNotMuster,
                                  Trouble::kLargeLost, Trouble::kRefused}) {
      ModelMesh mesh(GetParam());
      mesh.Break(trouble,
                 [&](int, const MeshTarget& to) { return to.rank == rank; });
      ExpectOne(mesh.view(), {rank}, "inbound " + std::to_string(rank));
    }
  }
}

TEST_P(MeshFaults, AHostThatReachesNobodyIsOne) {
  for (const int rank : Ranks()) {
    ModelMesh mesh(GetParam());
    mesh.Break(Trouble::kUnreachable,
               [&](int from, const MeshTarget&) { return from == rank; });
    ExpectOne(mesh.view(), {rank}, "outbound " + std::to_string(rank));
  }
}

TEST_P(MeshFaults, AHostCutOffBothWaysIsOne) {
  for (const int rank : Ranks()) {
    ModelMesh mesh(GetParam());
    mesh.Break(Trouble::kUnreachable, [&](int from, const MeshTarget& to) {
      return from == rank || to.rank == rank;
    });
    ExpectOne(mesh.view(), {rank}, "isolated " + std::to_string(rank));
  }
}

TEST_P(MeshFaults, OneDirectionOfALinkIsOne) {
  for (const int from : Ranks()) {
    // Partners that the sparse schedule tries, too.
    const int to = (from + 1) % GetParam();
    ModelMesh mesh(GetParam());
    mesh.Break(Trouble::kUnreachable, [&](int a, const MeshTarget& b) {
      return a == from && b.rank == to;
    });
    ExpectOne(mesh.view(), {from, to}, "direction " + std::to_string(from));
  }
}

TEST_P(MeshFaults, ALinkIsOne) {
  for (const int from : Ranks()) {
    const int to = (from + 1) % GetParam();
    ModelMesh mesh(GetParam());
    mesh.Break(Trouble::kUnreachable, [&](int a, const MeshTarget& b) {
      return (a == from && b.rank == to) || (a == to && b.rank == from);
    });
    ExpectOne(mesh.view(), {from, to}, "link " + std::to_string(from));
  }
}

TEST_P(MeshFaults, ThePortOfTheCoordinatorIsOne) {
  ModelMesh mesh(GetParam());
  mesh.Break(Trouble::kUnreachable, [&](int, const MeshTarget& to) {
    return to.port == kCoordinator;
  });
  const auto faults = FindFaults(mesh.view());
  ASSERT_EQ(faults.size(), 1U) << Text(faults);
  EXPECT_EQ(faults.front().targets, (std::set<MeshTarget>{{0, kCoordinator}}));
}

TEST_P(MeshFaults, APortOnAllHostsIsOne) {
  // Of two members it is a link.
  ModelMesh mesh(std::max(GetParam(), 3));
  mesh.Break(Trouble::kUnreachable,
             [&](int, const MeshTarget& to) { return to.port == kAgent; });
  const auto faults = FindFaults(mesh.view());
  ASSERT_EQ(faults.size(), 1U) << Text(faults);
  EXPECT_EQ(faults.front().shape, FaultShape::kPortEverywhere);
}

TEST_P(MeshFaults, HalvesThatDoNotMeetAreOne) {
  const int half = GetParam() / 2;
  for (const bool both : {false, true}) {
    ModelMesh mesh(GetParam());
    mesh.Break(Trouble::kUnreachable, [&](int from, const MeshTarget& to) {
      const bool there = from < half && to.rank >= half;
      return there || (both && from >= half && to.rank < half);
    });
    ExpectOne(mesh.view(), {}, both ? "both ways" : "one way");
  }
}

TEST_P(MeshFaults, AnySplitIsFound) {
  // Even and odd, thirds, one in five: halves that are no neighbors.
  for (const int step : {2, 3, 5}) {
    ModelMesh mesh(GetParam());
    mesh.Break(Trouble::kUnreachable, [&](int from, const MeshTarget& to) {
      return from % step == 0 && to.rank % step != 0;
    });
    ExpectOne(mesh.view(), {}, "one in " + std::to_string(step));
  }
}

TEST_P(MeshFaults, TwoBadHostsAreTwo) {
  // Of four members two are half of it.
  const int size = std::max(GetParam(), 5);
  const int other = size / 2;
  ModelMesh mesh(size);
  mesh.Break(Trouble::kUnreachable,
             [&](int, const MeshTarget& to) { return to.rank == 1; });
  mesh.Break(Trouble::kUnreachable,
             [&](int from, const MeshTarget&) { return from == other; });
  const auto faults = FindFaults(mesh.view());
  ASSERT_EQ(faults.size(), 2U) << Text(faults);
  std::set<int> named;
  for (const MeshFault& fault : faults) {
    named.insert(fault.named.begin(), fault.named.end());
  }
  EXPECT_EQ(named, (std::set<int>{1, other})) << Text(faults);
}

TEST_P(MeshFaults, TwoDeadHostsAreTwo) {
  // Of four members two are half of it.
  const int size = std::max(GetParam(), 5);
  ModelMesh mesh(size);
  mesh.Remove(1);
  mesh.Remove(size - 1);
  const auto faults = FindFaults(mesh.view());
  ASSERT_EQ(faults.size(), 2U) << Text(faults);
  for (const MeshFault& fault : faults) {
    EXPECT_EQ(fault.shape, FaultShape::kAbsentHost) << Text(faults);
  }
}

TEST_P(MeshFaults, ASplitIsOneSeenFromEitherSide) {
  const int size = std::max(GetParam(), 4);
  ModelMesh mesh(size);
  for (int rank = size / 2; rank < size; ++rank) {
    mesh.Remove(rank);
  }
  ExpectOne(mesh.view(), {0, size - 1}, "seen from the first half");
}

TEST_P(MeshFaults, WhoIsAloneFindsEachDeadHost) {
  const int size = std::max(GetParam(), 4);
  ModelMesh mesh(size);
  for (int rank = 1; rank < size; ++rank) {
    mesh.Remove(rank);
  }
  mesh.Break(Trouble::kNone, [](int, const MeshTarget& to) {
    return to.rank != 1 && to.rank != 3;
  });
  const auto faults = FindFaults(mesh.view());
  ASSERT_EQ(faults.size(), 2U) << Text(faults);
}

INSTANTIATE_TEST_SUITE_P(Sizes, MeshFaults, testing::ValuesIn(Sizes()));

TEST(MeshFaultsOfNetworks, TwoSubnetsThatDoNotMeetAreOne) {
  ModelMesh mesh(6);
  for (std::size_t rank = 3; rank < 6; ++rank) {
    mesh.view().hosts[rank] = "10.0.1." + std::to_string(rank);
  }
  mesh.Break(Trouble::kUnreachable, [&](int from, const MeshTarget& to) {
    return (from < 3) != (to.rank < 3);
  });
  const auto faults = FindFaults(mesh.view());
  ASSERT_EQ(faults.size(), 1U) << Text(faults);
  EXPECT_EQ(faults.front().shape, FaultShape::kPartition);
}

// By a member whose own list has a name there.
TEST(MeshFaultsOfNames, ANumberThatDoesNotResolveIsAPathAllTheSame) {
  ModelMesh mesh(4);
  mesh.Break(Trouble::kUnresolved, [](int from, const MeshTarget& to) {
    return from == 1 && to.rank == 2;
  });
  const auto faults = FindFaults(mesh.view());
  ASSERT_EQ(faults.size(), 1U) << Text(faults);
  EXPECT_EQ(faults.front().paths.size(), 1U);
}

TEST(MeshFaultsOfChaos, AreBounded) {
  ModelMesh mesh(48);
  int n = 0;
  mesh.Break(Trouble::kUnreachable,
             [&](int, const MeshTarget&) { return ++n * 7919 % 10 < 4; });
  EXPECT_LE(FindFaults(mesh.view()).size(), 25U);
}

TEST(MeshSchedule, IsNLogN) {
  EXPECT_LE(ModelMesh(256).view().paths.size(), 256U * (2 * 8 + 3) + 256U);
}

}  // namespace
}  // namespace muster::netcheck

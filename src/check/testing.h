// SPDX-License-Identifier: Apache-2.0
// A healthy host of a cluster, for tests to make ill.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "check/check.h"
#include "sys/net/names.h"

namespace muster::check {

// The check of this id; the test ends where there is none.
inline const Check& CheckOf(std::string_view id) {
  const auto all = AllChecks();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Check* one) { return one->id == id; });
  if (found == all.end()) {
    ADD_FAILURE() << "there is no check " << id;
    std::abort();
  }
  return **found;
}

// Two hosts, this one is rank 0 of two at 10.0.0.1; it has no accelerator.
class FakeHost {
 public:
  FakeHost() {
    env.hostname = "w-0";
    env.addresses = {"127.0.0.1", "10.0.0.1"};
    env.cores = 8;
    names.addresses = {{"w-0", {"10.0.0.1"}}, {"w-1", {"10.0.0.2"}}};
    SetLimits("4096", "65536", "30000");
    fs.files["/proc/self/status"] = "Uid:\t1000\t1000\nSeccomp:\t0\n";
    fs.files["/proc/meminfo"] =
        "MemTotal: 16777216 kB\nMemAvailable: 12582912 kB\n";
    fs.files["/proc/loadavg"] = "0.50 0.40 0.30 1/300 99\n";
    fs.files["/proc/stat"] = "cpu  1 2\ncpu0 1 2\ncpu1 1 2\ncpu2 0\ncpu3 0\n";
    fs.files["/proc/sys/kernel/osrelease"] = "6.1.0-18-amd64\n";
    fs.files["/etc/resolv.conf"] = "nameserver 10.0.0.53\nsearch a.internal\n";
    fs.directories = {"/home/test", "/sys/class/net/eth0", "/dev"};
    SetCluster({{"10.0.0.1", 8476}, {"10.0.0.2", 8476}});
  }

  void SetLimits(const std::string& files, const std::string& locked,
                 const std::string& processes) {
    fs.files["/proc/self/limits"] =
        "Limit                     Soft Limit           Hard Limit\n"
        "Max processes             " +
        processes + "   30000   processes\n" + "Max open files            " +
        files + "   65536   files\n" + "Max locked memory         " + locked +
        "   65536   bytes\n";
  }

  void SetCluster(const std::vector<Address>& addresses) {
    cluster = Cluster{.self = Sourced<int>{0, "test"},
                      .size = {static_cast<int>(addresses.size()), "test"}};
    for (const Address& address : addresses) {
      Member member{.rank = static_cast<int>(cluster.members.size())};
      member.index = member.rank;
      member.address = {address, "test"};
      cluster.members.push_back(member);
    }
  }

  // N ranks of this host alone.
  void SetOneHost(int ranks) {
    SetCluster(std::vector<Address>(static_cast<std::size_t>(ranks),
                                    Address{.host = "127.0.0.1"}));
    cluster.self.reset();
    cluster.one_host = true;
  }

  void AddTpu() {
    fs.files["/dev/accel0"] = "";
    fs.files["/sys/kernel/mm/transparent_hugepage/enabled"] =
        "[always] madvise never\n";
  }

  Context MakeContext() {
    return Context{.host = host,
                   .machine = machine,
                   .cluster = &cluster,
                   .checkpoints = checkpoints,
                   .data = data,
                   .command = command};
  }

  Outcome Run(std::string_view id) { return CheckOf(id).run(MakeContext()); }

  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  sys::FakeNames names;
  sys::FakeMachine machine;
  sys::Host host{env, clock, fs, nullptr, &names};
  Cluster cluster;
  std::vector<std::string> checkpoints, data, command;
};

// What a test says of an outcome: its verdict, and the first finding's cause.
inline std::string Summary(const Outcome& outcome) {
  std::string text(ToString(outcome.state));
  if (!outcome.findings.empty()) {
    text += " " + std::string(Label(outcome.findings.front().cause));
  }
  return text;
}

}  // namespace muster::check

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "check/testing.h"
#include "sys/fake/fake_names.h"

namespace muster::check {
namespace {

using ::testing::HasSubstr;

TEST(OwnName, WarnsOfALoopbackNameThatNobodyUses) {
  FakeHost host;
  host.names.addresses["w-0"] = {"127.0.1.1"};
  const Outcome outcome = host.Run("network.own-name");
  EXPECT_EQ(Summary(outcome), "warn net-loopback-name");
  EXPECT_THAT(outcome.detail, HasSubstr("127.0.1.1"));
}

TEST(OwnName, FailsWhereTheMembersAreNamedByIt) {
  FakeHost host;
  host.names.addresses["w-0"] = {"127.0.1.1"};
  host.SetCluster({{"w-0", 8476}, {"w-1", 8476}});
  EXPECT_EQ(Summary(host.Run("network.own-name")), "fail net-loopback-name");
}

TEST(OwnName, IsNoMatterOnOneHost) {
  FakeHost host;
  host.names.addresses["w-0"] = {"127.0.1.1"};
  host.SetOneHost(2);
  EXPECT_EQ(Summary(host.Run("network.own-name")), "skip");
}

TEST(OwnName, PassesWithAnAddressBesideLoopback) {
  FakeHost host;
  host.names.addresses["w-0"] = {"127.0.1.1", "10.0.0.1"};
  EXPECT_EQ(Summary(host.Run("network.own-name")), "pass");
}

TEST(Names, NamesWhatDoesNotResolveAndWhoWasAsked) {
  FakeHost host;
  host.SetCluster({{"w-0", 8476}, {"w-9", 8476}});
  const Outcome outcome = host.Run("network.names");
  ASSERT_EQ(Summary(outcome), "fail net-name-resolution");
  EXPECT_THAT(outcome.detail, HasSubstr("`w-9`"));
  EXPECT_THAT(outcome.findings[0].evidence[1].what,
              HasSubstr("nameserver 10.0.0.53, search a.internal"));
}

TEST(Names, ThatDoNotResolveAreOneFinding) {
  FakeHost host;
  host.SetCluster({{"w-7", 1}, {"w-8", 1}, {"w-9", 1}});
  const Outcome outcome = host.Run("network.names");
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_THAT(outcome.detail, HasSubstr("`w-7` and 2 other names"));
  EXPECT_EQ(outcome.findings[0].subjects,
            (std::vector<std::string>{"w-7", "w-8", "w-9"}));
}

TEST(Names, FindsAPeerThatLeadsToLoopback) {
  FakeHost host;
  host.SetCluster({{"w-0", 8476}, {"w-1", 8476}});
  host.names.addresses["w-1"] = {"127.0.0.1"};
  EXPECT_EQ(Summary(host.Run("network.names")), "fail net-loopback-name");
}

TEST(Names, PassOnGoodNamesNumbersAndLocalhost) {
  FakeHost host;
  EXPECT_EQ(Summary(host.Run("network.names")), "pass");
  host.SetCluster({{"w-0", 8476}, {"w-1", 8476}});
  EXPECT_EQ(Summary(host.Run("network.names")), "pass");
  host.names.addresses["localhost"] = {"127.0.0.1"};
  host.SetCluster({{"localhost", 2222}, {"localhost", 2223}});
  EXPECT_EQ(Summary(host.Run("network.names")), "skip");
}

// Answers nothing about some names until the time is over.
struct SlowNames : sys::FakeNames {
  std::set<std::string> slow;
  Result<std::vector<std::string>> Lookup(const std::string& host,
                                          Deadline deadline) const override {
    if (slow.count(host) > 0) {
      std::this_thread::sleep_until(deadline.when());
      return Error(Cause::kNetNameResolution, "no answer in time");
    }
    return sys::FakeNames::Lookup(host, deadline);
  }
};

TEST(Names, OneThatIsNotAnsweredInTimeIsNotCalledWrong) {
  FakeHost host;
  SlowNames names;
  names.addresses = {{"w-0", {"10.0.0.1"}}, {"w-1", {"10.0.0.2"}}};
  names.slow = {"w-2"};
  host.host.names = &names;
  host.SetCluster({{"w-0", 1}, {"w-1", 1}, {"w-2", 1}});
  EXPECT_EQ(Summary(host.Run("network.names")), "broken");
  // Of a name server that says nothing at all, that is told.
  names.slow = {"w-0", "w-1", "w-2"};
  EXPECT_EQ(Summary(host.Run("network.names")), "warn net-name-resolution");
}

TEST(Names, AreLookedUpSideBySide) {
  struct : sys::Names {
    Result<std::vector<std::string>> Lookup(const std::string&,
                                            Deadline) const override {
      // One after another, 64 names would take longer than their time.
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      return std::vector<std::string>{"10.0.0.7"};
    }
  } names;
  FakeHost host;
  host.host.names = &names;
  std::vector<Address> all;
  for (int rank = 0; rank < 64; ++rank) {
    all.push_back({"w-" + std::to_string(rank), 8476});
  }
  host.SetCluster(all);
  const Outcome outcome = host.Run("network.names");
  EXPECT_EQ(Summary(outcome), "pass");
  EXPECT_EQ(outcome.detail, "64 names resolved");
}

TEST(Reach, SaysWhatIsNotCompared) {
  FakeHost host;
  host.SetCluster({{"127.0.7.1", 0}, {"127.0.7.2", 1}});
  sys::RealClock clock;
  const sys::Host real{host.env, clock, host.fs};
  const Context context{
      .host = real,
      .machine = host.machine,
      .cluster = &host.cluster,
      .data = {"/no/such/folder"},
      .mesh = MeshSetup{.wait = std::chrono::milliseconds(100)}};
  EXPECT_THAT(CheckOf("network.reach").run(context).detail,
              HasSubstr("; not compared: data /no/such/folder"));
}

TEST(Ports, NamesTheHolder) {
  FakeHost host;
  host.machine.taken[8476] = "process 41 (python3)";
  const Outcome outcome = host.Run("network.ports");
  ASSERT_EQ(Summary(outcome), "fail net-port-in-use");
  EXPECT_THAT(outcome.detail, HasSubstr("process 41 (python3)"));
}

TEST(Ports, DoNotConcernThoseOfOtherHosts) {
  FakeHost host;
  host.cluster.members[1].address->value.port = 9999;
  host.machine.taken[9999] = "process 41 (python3)";
  EXPECT_EQ(Summary(host.Run("network.ports")), "pass");
}

TEST(Ports, MayBeHeldByTheAgentOfTorchrun) {
  FakeHost host;
  host.cluster.coordinator = {Address{"10.0.0.1", 29500}, "env MASTER_PORT"};
  host.machine.taken[29500] = "process 41 (torchrun)";
  EXPECT_EQ(Summary(host.Run("network.ports")), "fail net-port-in-use");
  host.env.variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(Summary(host.Run("network.ports")), "pass");
}

TEST(Proxy, DivertsWhatUsesGrpc) {
  FakeHost host;
  host.env.variables = {{"http_proxy", "http://user:secret@proxy:3128"},
                        {"TF_CONFIG", "{}"}};
  const Outcome outcome = host.Run("network.proxy");
  ASSERT_EQ(Summary(outcome), "fail net-proxy");
  EXPECT_EQ(outcome.findings[0].subjects,
            (std::vector<std::string>{"10.0.0.1", "10.0.0.2"}));
  EXPECT_THAT(outcome.detail, Not(HasSubstr("secret")));
}

TEST(Proxy, GivesNoCommandThatAHostsNameCouldTurn) {
  FakeHost host;
  host.env.variables = {{"http_proxy", "http://proxy:3128"}};
  EXPECT_EQ(host.Run("network.proxy").findings[0].fixes[0].command,
            "export no_proxy=\"$no_proxy,10.0.0.1,10.0.0.2\"");
  host.SetCluster({{"10.0.0.1", 1}, {"a$(reboot)", 1}});
  EXPECT_EQ(host.Run("network.proxy").findings[0].fixes[0].command, "");
}

TEST(Proxy, OnlyWarnsWhereNothingSaysThatGrpcIsUsed) {
  FakeHost host;
  host.env.variables = {{"https_proxy", "http://proxy:3128"}};
  EXPECT_EQ(Summary(host.Run("network.proxy")), "warn net-proxy");
}

TEST(Proxy, IsOnlyANoteForPyTorchAndForRanksOfOneHost) {
  FakeHost host;
  host.env.variables = {{"https_proxy", "http://proxy:3128"},
                        {"MASTER_ADDR", "10.0.0.1"}};
  EXPECT_EQ(Summary(host.Run("network.proxy")), "pass net-proxy");
  host.env.variables.erase("MASTER_ADDR");
  host.SetOneHost(2);
  EXPECT_EQ(Summary(host.Run("network.proxy")), "pass net-proxy");
}

TEST(Proxy, SparesExceptedMembers) {
  FakeHost host;
  host.env.variables = {{"http_proxy", "http://proxy:3128"},
                        {"TF_CONFIG", "{}"}};
  host.env.variables["no_proxy"] = "10.0.0.1,10.0.0.2";
  EXPECT_EQ(Summary(host.Run("network.proxy")), "pass");
  for (const char* newer : {"localhost, 10.0.0.0/24", "0.0.0.0/0"}) {
    host.env.variables["no_proxy"] = newer;
    EXPECT_EQ(Summary(host.Run("network.proxy")), "pass net-proxy") << newer;
  }
  host.env.variables["no_proxy"] = "localhost,10.0.0.1,10.1.0.0/16";
  EXPECT_EQ(Summary(host.Run("network.proxy")), "fail net-proxy");
}

TEST(Proxy, OfAHostThatTrainsAloneIsItsOwnMatter) {
  FakeHost host;
  host.env.variables = {{"http_proxy", "http://proxy:3128"}};
  host.SetOneHost(1);
  EXPECT_EQ(Summary(host.Run("network.proxy")), "pass");
}

TEST(Route, NamesAPeerWithoutOne) {
  FakeHost host;
  host.machine.no_route["10.0.0.2"] = Cause::kNetTimeoutFiltered;
  const Outcome outcome = host.Run("network.route");
  EXPECT_EQ(Summary(outcome), "fail net-timeout-filtered");
  EXPECT_THAT(outcome.detail, HasSubstr("10.0.0.2"));
}

TEST(Route, NamesAnInterfaceThatIsNotHere) {
  FakeHost host;
  host.env.variables["GLOO_SOCKET_IFNAME"] = "ib0";
  const Outcome outcome = host.Run("network.route");
  EXPECT_EQ(Summary(outcome), "fail net-wrong-interface");
  EXPECT_THAT(outcome.detail, HasSubstr("`ib0`"));
}

TEST(Route, KnowsHowNcclNamesInterfaces) {
  FakeHost host;
  for (const char* good : {"eth", "=eth0", "^lo,docker0", "ib0,eth", ""}) {
    host.env.variables["NCCL_SOCKET_IFNAME"] = good;
    EXPECT_EQ(Summary(host.Run("network.route")), "pass") << good;
  }
  host.env.variables["NCCL_SOCKET_IFNAME"] = "=eth";
  EXPECT_EQ(Summary(host.Run("network.route")), "fail net-wrong-interface");
}

// A card with a device behind it, up, at 10 Gbit/s.
void AddCard(FakeHost& host) {
  const std::string place = "/sys/class/net/eth0";
  host.fs.directories.insert(place + "/device");
  host.fs.files[place + "/operstate"] = "up\n";
  host.fs.files[place + "/speed"] = "10000\n";
  host.fs.files[place + "/duplex"] = "full\n";
  host.fs.files[place + "/statistics/rx_packets"] = "900000000\n";
  host.fs.files[place + "/statistics/rx_errors"] = "2000\n";
  host.fs.files[place + "/statistics/rx_dropped"] = "400000\n";
}

TEST(Interfaces, PassWithTheErrorsOfYears) {
  FakeHost host;
  AddCard(host);
  const Outcome outcome = host.Run("network.interfaces");
  EXPECT_EQ(Summary(outcome), "pass");
  EXPECT_EQ(outcome.detail, "eth0");
}

TEST(Interfaces, NameWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> faults{
      {"speed", "100"},
      {"duplex", "half"},
      {"statistics/rx_errors", "900000"},
      {"statistics/rx_dropped", "90000000"}};
  for (const auto& [file, value] : faults) {
    FakeHost host;
    AddCard(host);
    host.fs.files["/sys/class/net/eth0/" + file] = value + "\n";
    const Outcome outcome = host.Run("network.interfaces");
    EXPECT_THAT(Summary(outcome), HasSubstr("net-slow-link")) << file;
    EXPECT_THAT(outcome.detail, HasSubstr("eth0")) << file;
  }
}

TEST(Interfaces, LeaveOutWhatIsDownOrVirtual) {
  FakeHost host;
  AddCard(host);
  host.fs.files["/sys/class/net/eth0/speed"] = "-1\n";
  EXPECT_EQ(Summary(host.Run("network.interfaces")), "pass");
  host.fs.files["/sys/class/net/eth0/speed"] = "10\n";
  host.fs.files["/sys/class/net/eth0/operstate"] = "down\n";
  EXPECT_EQ(Summary(host.Run("network.interfaces")), "pass");
}

}  // namespace
}  // namespace muster::check

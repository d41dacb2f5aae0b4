// SPDX-License-Identifier: Apache-2.0
#include "run/session.h"

#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "base/json.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "channel/grpc/transport.h"
#include "channel/security/certificate_store.h"
#include "channel/transport.h"
#include "finding/exit_code.h"
#include "record/events.h"
#include "record/journal.h"
#include "record/report.h"
#include "remote/agent_bootstrap.h"
#include "rendezvous/rendezvous_client.h"
#include "resolve/ranks_of_agents.h"
#include "run/agent/agent.h"
#include "run/coordinator/coordinator.h"
#include "run/identity.h"
#include "run/plan/plan.h"
#include "run/plan/plan_text.h"
#include "sys/process/process.h"
#include "sys/signal/signals.h"
#include "sys/terminal/console.h"
#include "sys/terminal/results.h"
#include "sys/time/loop.h"
#include "wire/mesh_frame.h"

namespace muster::run {
namespace {

// A host that was lost from the view of a member: the code of DESIGN section 7
// for "ended from outside".
constexpr int kEndedFromOutside = 75;
constexpr int kNotSetUp = 125;

// What every part of a run on this host needs.
struct AgentPlace {
  const settings::RunFlags& flags;
  const sys::Host& host;
  const resolve::Resolved& resolved;
  sys::Loop& loop;
  sys::GuardianSpawner& spawner;
  sys::Console& console;
  Preflight preflight;

  const Cluster& cluster() const { return resolved.cluster; }
  const settings::Settings& settings() const { return flags.settings; }
  bool json() const {
    return settings().output.value == settings::Output::kJson;
  }

  void Say(const std::string& text) const {
    console.Write(sys::Console::Stream::kErr,
                  "muster: " + Printable(text) + "\n");
  }
  void Show(const Finding& finding) const {
    console.Write(
        sys::Console::Stream::kErr,
        RenderText(std::span(&finding, 1), sys::TerminalOptions(host.env, 2)));
  }
};

bool IsForJax(const settings::RunFlags& flags) {
  return flags.cluster.profile == "jax";
}

bool AllRanksAreHere(const Cluster& cluster) {
  return cluster.one_host || cluster.members.size() == 1;
}

// Of the agent of this process.
wire::Hello IdentityOf(const settings::RunFlags& flags, const sys::Host& host,
                       const resolve::Resolved& resolved) {
  const Cluster& cluster = resolved.cluster;
  wire::Hello hello =
      MakeIdentity(host, cluster, cluster.OwnRanks(), flags.command);
  const resolve::Claim& claim = resolved.claims.front();
  if (claim.local_process_id && !claim.local_concluded &&
      hello.ranks.size() == 1) {
    hello.local_rank = claim.local_process_id->value;
  }
  return hello;
}

std::map<std::string, std::string> UserEnvironment(
    const settings::RunFlags& flags) {
  std::map<std::string, std::string> environment;
  for (const auto& [name, value] : flags.environment) {
    environment[name] = value;
  }
  return environment;
}

monitor::WatchLimits LimitsOf(const settings::Settings& settings) {
  monitor::WatchLimits limits;
  const Duration longest = settings.progress_timeout.value;
  if (longest == settings::kNone) {
    limits.steps = false;
  } else if (longest != settings::kAuto) {
    limits.step_floor = longest;
    limits.step_factor = 0;
    limits.asked = true;
  }
  return limits;
}

CoordinatorPorts CoordinatorPortsOf(const settings::Settings& settings) {
  return {settings.port_range.value.first, settings.port_range.value.last};
}

AgentOptions AgentOptionsOf(const AgentPlace& place,
                            const wire::Hello& identity, wire::Signer signer) {
  AgentOptions options;
  options.identity = identity;
  options.name = "agent of rank " + std::to_string(identity.ranks.front());
  options.first_port = place.settings().port_range.value.first;
  options.last_port = place.settings().port_range.value.last;
  for (const auto& [rank, port] : FixedPorts(place.cluster())) {
    if (std::find(identity.ranks.begin(), identity.ranks.end(), rank) !=
        identity.ranks.end()) {
      options.fixed_ports[rank] = port;
    }
  }
  options.log_directory =
      [runs = place.settings().runs_dir.value](const wire::LaunchPlan& plan) {
        return sys::JoinPath(sys::JoinPath(runs, plan.run_id),
                             "logs/a" + std::to_string(plan.attempt));
      };
  options.log_access = place.flags.access();
  options.host_checks = place.preflight.checks;
  options.signer = std::move(signer);
  options.accelerators = place.preflight.accelerators;
  options.console = place.json() ? nullptr : &place.console;
  return options;
}

// Tells `act` of each Ctrl-C, TERM and HUP; from the second on `now` is true.
// So does who has started this agent over ssh, if somebody has; `gone` when
// there is no connection to them any more.
struct Callers {
  std::unique_ptr<sys::SignalWatch> signals;
  std::unique_ptr<remote::StarterWatch> starter;
};
Result<Callers> WatchCallers(
    const AgentPlace& place,
    const std::function<void(const std::string& by, bool now)>& act,
    const std::function<void(const std::string& why)>& gone) {
  Callers callers;
  MUSTER_ASSIGN(callers.signals,
                sys::SignalWatch::Make(place.loop, {SIGINT, SIGTERM, SIGHUP},
                                       [act, count = 0](int signal) mutable {
                                         act(SignalName(signal), ++count > 1);
                                       }));
  if (place.flags.bootstrap_token) {
    callers.starter =
        std::make_unique<remote::StarterWatch>(place.loop, 0, act, gone);
  }
  return callers;
}

// The last line on stderr: how it ended, whose code that is, where to read on.
// Before it the output, since output that is lost is an end of its own. Gives
// the exit code.
int SayEnd(const AgentPlace& place, const wire::Goodbye& end,
           const std::string& report) {
  place.console.Drain(end.exit_code == kExitInterrupted ? sys::kDrainInterrupted
                                                        : Duration::max());
  const auto& lost = place.console.lost();
  const int code = sys::CodeAfter(lost, end.exit_code);
  place.Say(end.summary + (lost.bytes > 0 ? "; " + sys::LostText(lost) : "") +
            ", exit code " + std::to_string(code) + " (" +
            (code == end.exit_code ? end.origin
                                   : std::string(OriginName(Origin::kMuster))) +
            "), report: " + report);
  place.console.Drain(sys::kDrainInterrupted);
  return code;
}

// Files and connections that a listener may need: members, ranks, and those who
// knock without being let in.
constexpr std::uint64_t kOpenFiles = 65'536;

Address CoordinatorAddressOf(const AgentPlace& place) {
  return CoordinatorAddress(place.cluster(),
                            CoordinatorPortsOf(place.settings()))
      .value;
}

// What was handed over by who started this agent, or the file of the user.
Result<std::optional<channel::RunKey>> TokenOf(const AgentPlace& place) {
  std::optional<channel::RunKey> token;
  if (const auto& handed = place.flags.bootstrap_token) {
    MUSTER_ASSIGN(token, channel::RunKey::FromToken(*handed));
  } else if (const auto& file = place.settings().token_file.value;
             !file.empty()) {
    MUSTER_ASSIGN(token, channel::ReadTokenFile(file));
  }
  return token;
}

// With which agents prove who they are outside of that.
Result<wire::Signer> SignerOf(const AgentPlace& place) {
  MUSTER_ASSIGN(const auto token, TokenOf(place));
  return token ? channel::TokenSigner(*token) : wire::PlainSigner();
}

// What the agent reaches those of other hosts with: over TLS where a token is
// given, else in clear text.
Result<std::unique_ptr<channel::Transport>> MakeTransport(
    const AgentPlace& place,
    const std::function<Result<std::shared_ptr<channel::CertificateStore>>(
        const channel::RunKey&)>& with) {
  std::shared_ptr<channel::CertificateStore> certificates;
  MUSTER_ASSIGN(const auto token, TokenOf(place));
  if (token) {
    MUSTER_ASSIGN(certificates, with(*token));
    if (sys::IsRoot()) {
      place.Say("running as root, and so will the ranks of this host");
    }
  } else if (const Address peer_check = CoordinatorAddressOf(place);
             !peer_check.IsLoopback()) {
    // Before anybody waits for a coordinator that cannot listen either.
    return channel::OnlyOnLoopback(peer_check);
  }
  sys::RaiseFileLimit(kOpenFiles);
  return channel::MakeGrpcTransport(place.loop, place.host.clock,
                                    std::move(certificates));
}

int FinishRun(const AgentPlace& place, record::Journal& journal,
              const RunEnd& end) {
  auto report = journal.WriteReport();
  if (!report) {
    Finding finding = FromError(report.error());
    finding.severity = Severity::kWarning;
    place.Show(finding);
  }
  if (report && place.flags.bootstrap_token) {
    place.console.Write(
        sys::Console::Stream::kOut,
        remote::ReportLines(remote::ReportMark(*place.flags.bootstrap_token),
                            DumpAscii(*report)));
  }
  const int code = SayEnd(place,
                          {.exit_code = end.exit_code,
                           .origin = std::string(OriginName(end.origin)),
                           .summary = end.text},
                          report ? sys::JoinPath(journal.folder(), "report.md")
                                 : "could not be written");
  if (place.json()) {
    sys::PrintDocument(report ? *report : record::BuildReport(journal.facts()));
  }
  return code;
}

// The process of member 0, or of all members: coordinator and agent.
Result<int> Coordinate(const AgentPlace& place) {
  const sys::Host& host = place.host;
  const std::string id =
      record::MakeRunId(host.clock.EventNow(), sys::OwnPid());
  MUSTER_ASSIGN(const auto journal,
                record::Journal::Open(host, place.settings().runs_dir.value, id,
                                      place.flags.access()));
  std::unique_ptr<channel::Transport> transport;
  std::unique_ptr<channel::Listener> listener;
  const auto identity = IdentityOf(place.flags, host, place.resolved);
  Coordinator coordinator(
      place.loop, host, place.console, *journal,
      {.run_id = id,
       .argv = place.flags.command,
       .environment = UserEnvironment(place.flags),
       .for_jax = IsForJax(place.flags),
       .bind_devices = place.flags.bind_devices,
       .max_restarts = place.settings().max_restarts.value,
       .gather_timeout = place.settings().gather_timeout.value,
       .grace = place.settings().grace.value,
       .peer_check = place.preflight.checks != nullptr,
       .limits = LimitsOf(place.settings()),
       .color = sys::TerminalOptions(host.env, 2).color});
  if (!AllRanksAreHere(place.cluster())) {
    MUSTER_ASSIGN(transport,
                  MakeTransport(place, [&](const channel::RunKey& token) {
                    return channel::CertificateStore::OfCoordinator(token, id,
                                                                    host.clock);
                  }));
    MUSTER_ASSIGN(
        listener,
        transport->Listen(CoordinatorAddressOf(place), identity,
                          [&](std::unique_ptr<channel::Link> link) {
                            coordinator.rendezvous().Attend(std::move(link));
                          }));
  }
  MUSTER_ASSIGN(auto signer, SignerOf(place));
  auto [here, there] = channel::InProcessLinks(place.loop);
  Agent agent(place.loop, host, place.spawner, std::move(there),
              AgentOptionsOf(place, identity, std::move(signer)));
  std::optional<RunEnd> end;
  bool agent_ended = false;
  const auto quit_when_both_ended = [&] {
    if (end && agent_ended) {
      place.loop.Quit();
    }
  };
  MUSTER_ASSIGN(const auto callers, WatchCallers(
                                        place,
                                        [&](const std::string& by, bool now) {
                                          coordinator.Interrupt(by, now);
                                        },
                                        [&](const std::string& why) {
                                          coordinator.Interrupt(why, true);
                                        }));
  coordinator.Start(transport.get(), place.cluster(), identity,
                    [&](const RunEnd& ended) {
                      end = ended;
                      quit_when_both_ended();
                    });
  coordinator.rendezvous().AttendHere(std::move(here), identity);
  agent.Start([&](const AgentEnd&) {
    agent_ended = true;
    quit_when_both_ended();
  });
  place.loop.Run();
  return FinishRun(place, *journal, *end);
}

// How a member's agent ended.
int FinishMember(const AgentPlace& place, const AgentEnd& end) {
  wire::Goodbye goodbye;
  if (end.goodbye) {
    goodbye = *end.goodbye;
  } else {
    const Error error = end.error.value_or(
        Error(Cause::kInternalError, "the agent exited without a reason"));
    place.Show(FromError(error));
    const bool rejected = error.cause() == Cause::kUsageInvalid;
    goodbye.exit_code = error.cause() == Cause::kCancelled ? kExitInterrupted
                        : rejected ? ExitCodeOf(error, "run")
                                   : kEndedFromOutside;
    goodbye.origin = OriginName(Origin::kMuster);
    goodbye.summary = error.cause() == Cause::kCancelled ? "interrupted"
                      : rejected ? "this member rejected the plan"
                                 : "the coordinator was lost";
  }
  const int code = SayEnd(place, goodbye, "on the host of rank 0");
  if (place.json()) {
    Json document;
    document["schema"] = "muster.goodbye/1";
    document["exit"] = {{"code", goodbye.exit_code},
                        {"origin", goodbye.origin},
                        {"text", goodbye.summary}};
    sys::PrintDocument(document);
  }
  return code;
}

// A member that did not take part.
int FinishRefused(const AgentPlace& place, const Error& why) {
  place.Show(FromError(why));
  const int code =
      why.cause() == Cause::kCancelled ? kExitInterrupted : kNotSetUp;
  place.Say("this member did not participate, exit code " +
            std::to_string(code) + " (muster)");
  place.console.Drain(sys::kDrainInterrupted);
  return code;
}

Result<AgentOptions> OptionsOfMember(const AgentPlace& place,
                                     const wire::Hello& identity) {
  MUSTER_ASSIGN(auto signer, SignerOf(place));
  MUSTER_ASSIGN(const auto token, TokenOf(place));
  AgentOptions options = AgentOptionsOf(place, identity, std::move(signer));
  options.coordinator_proved = token.has_value();
  return options;
}

// The process of any other member: an agent that attends.
Result<int> AttendAsMember(const AgentPlace& place) {
  const sys::Host& host = place.host;
  const auto& cluster = place.cluster();
  const auto identity = IdentityOf(place.flags, host, place.resolved);
  MUSTER_ASSIGN(const auto transport,
                MakeTransport(place, [&](const channel::RunKey& token) {
                  return channel::CertificateStore::OfMember(
                      token, identity.ranks.front(), host.clock);
                }));
  MUSTER_ASSIGN(const auto options, OptionsOfMember(place, identity));
  std::unique_ptr<channel::Listener> listener;
  const auto& own =
      cluster.members[static_cast<std::size_t>(identity.ranks.front())];
  // Where the port is the program's own, nothing of ours may hold it.
  if (own.address && own.address->value.port != 0 &&
      FixedPorts(cluster).empty()) {
    MUSTER_ASSIGN(listener,
                  transport->Listen(own.address->value, identity, nullptr));
  }
  std::unique_ptr<Agent> agent;
  std::optional<AgentEnd> end;
  std::optional<Error> refused;
  std::unique_ptr<rendezvous::RendezvousClient> rendezvous_client =
      rendezvous::RendezvousClient::Start(
          place.loop, host.clock, *transport,
          {.coordinator = CoordinatorAddressOf(place),
           .identity = identity,
           .deadline = Deadline::After(place.settings().gather_timeout.value),
           .on_change = [&](const std::string& seen) { place.Say(seen); },
           .on_done =
               [&](Result<std::unique_ptr<channel::Link>> link) {
                 if (!link) {
                   refused = std::move(link).error();
                   place.loop.Quit();
                   return;
                 }
                 agent =
                     std::make_unique<Agent>(place.loop, host, place.spawner,
                                             *std::move(link), options);
                 agent->Start([&](const AgentEnd& ended) {
                   end = ended;
                   place.loop.Quit();
                 });
               }});
  const auto give_up_waiting = [&](const std::string& by) {
    refused =
        Error(Cause::kCancelled, by + " while waiting for the coordinator");
    place.loop.Quit();
  };
  MUSTER_ASSIGN(
      const auto callers,
      WatchCallers(
          place,
          [&](const std::string& by, bool now) {
            if (!agent) {
              give_up_waiting(by);
              return;
            }
            place.Say(by + ": the ranks of this host are " +
                      (now ? "being killed" : "being stopped"));
            agent->Interrupt(now);
          },
          // The run may go on: who started this host may start it again.
          [&](const std::string& why) {
            agent ? agent->Leave() : give_up_waiting(why);
          }));
  place.loop.Run();
  return refused ? FinishRefused(place, *refused) : FinishMember(place, *end);
}

// What would be started. Other hosts are not asked: what they have set and how
// many cores they have is not known.
Result<int> DryRun(const settings::RunFlags& flags, const sys::Host& host,
                   const resolve::Resolved& resolved) {
  const Cluster& cluster = resolved.cluster;
  std::vector<wire::Hello> agents{IdentityOf(flags, host, resolved)};
  const std::set<int> here(agents[0].ranks.begin(), agents[0].ranks.end());
  const auto machines = resolve::MachinesByRank(resolved.claims.front());
  const auto machine_of = [&](int rank) {
    return machines[static_cast<std::size_t>(rank)];
  };
  if (!AllRanksAreHere(cluster)) {
    agents[0].machine = machine_of(agents[0].ranks.front());
  }
  std::map<int, std::size_t> of_node;
  for (const Member& member : cluster.members) {
    if (here.contains(member.rank)) {
      continue;
    }
    const auto known = of_node.find(member.node);
    if (member.node >= 0 && known != of_node.end()) {
      agents[known->second].ranks.push_back(member.rank);
      continue;
    }
    of_node[member.node] = agents.size();
    wire::Hello other;
    other.ranks = {member.rank};
    other.host = member.address ? member.address->value.host
                                : "of rank " + std::to_string(member.rank);
    other.machine = machine_of(member.rank);
    other.cores = 0;
    agents.push_back(std::move(other));
  }
  MUSTER_ASSIGN(const auto planned,
                MakePlan(cluster, agents,
                         {.run_id = "(chosen at launch)",
                          .max_restarts = flags.settings.max_restarts.value,
                          .argv = flags.command,
                          .user_environment = UserEnvironment(flags),
                          .for_jax = IsForJax(flags),
                          .bind_devices = flags.bind_devices,
                          .grace = flags.settings.grace.value,
                          .dry_run = true}));
  sys::PrintAside(RenderText(std::span(resolved.findings),
                             sys::TerminalOptions(host.env, 2)));
  const Json plan = PlanJson(cluster, planned);
  if (flags.settings.output.value == settings::Output::kJson) {
    sys::PrintDocument(plan);
  } else {
    sys::PrintResult(RenderPlan(plan));
  }
  return 0;
}

}  // namespace

Result<int> Run(const settings::RunFlags& flags, const sys::Host& host,
                std::unique_ptr<sys::GuardianSpawner> spawner,
                const std::function<Preflight(const Cluster&)>& preflight) {
  MUSTER_ASSIGN(const auto resolved, resolve::Resolve(flags.cluster, host));
  if (flags.dry_run) {
    return DryRun(flags, host, resolved);
  }
  MUSTER_ASSIGN(const auto loop, sys::Loop::Make());
  MUSTER_TRY(spawner->Attach(*loop));
  sys::Console console(*loop, {.raw = flags.raw});
  AgentPlace place{.flags = flags,
                   .host = host,
                   .resolved = resolved,
                   .loop = *loop,
                   .spawner = *spawner,
                   .console = console,
                   .preflight = {}};
  for (const Finding& finding : resolved.findings) {
    place.Show(finding);
  }
  const Cluster& cluster = resolved.cluster;
  place.preflight = preflight(cluster);
  if (AllRanksAreHere(cluster) || cluster.self->value == 0) {
    return Coordinate(place);
  }
  return AttendAsMember(place);
}

}  // namespace muster::run

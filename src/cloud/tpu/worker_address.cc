// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/worker_address.h"

#include <algorithm>

#include "base/text.h"
#include "cloud/auth/metadata.h"
#include "muster/address.h"

namespace muster::cloud {
namespace {

Error Usage(const std::string& message) {
  return Error(Cause::kUsageInvalid, message);
}

std::string NameOf(const TpuNode& node) {
  return "the TPU `" + Printable(node.name) + "`";
}

// "projects/1/networks/default": the last part.
std::string LastPart(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Every project has a network `default`. Whether the network at that path
// ("projects/1/networks/default"), which this machine is in, is surely of
// another project than the TPU's. A machine in the network of a host project
// knows the number of that project and not its name: nothing is sure then.
bool IsOfAnotherProject(const std::string& own, const TpuNode& node,
                        const Metadata& metadata) {
  const std::string number = ProjectOf(own);
  const std::string& wanted = node.network_project;
  if (number.empty() || wanted.empty()) {
    return false;
  }
  if (ParseInt(wanted)) {
    return wanted != number;
  }
  const auto project = metadata.Get("project/project-id");
  const auto own_number = metadata.Get("project/numeric-project-id");
  if (!project || !*project || !own_number || !*own_number) {
    return false;
  }
  const bool is_own = number == **own_number;
  return **project == wanted ? !is_own : is_own;
}

// Whether this machine reaches internal addresses, and how that is known.
struct Inside {
  bool yes = false;
  std::string why;
};
Inside LookInside(const TpuNode& node, const std::vector<std::string>& internal,
                  const sys::Host& host) {
  for (const std::string& own : host.env.LocalAddresses()) {
    if (std::find(internal.begin(), internal.end(), own) != internal.end()) {
      return {true, "this machine is one of the workers"};
    }
  }
  const Metadata metadata(host);
  if (const std::string off = metadata.SwitchedOff(); !off.empty()) {
    return {false, off};
  }
  const auto network = metadata.Get("instance/network-interfaces/0/network");
  if (!network || !*network) {
    return {false,
            "the network of this machine is unknown (no metadata server)"};
  }
  const std::string own = Printable(LastPart(**network));
  const bool is_another =
      own == node.network && IsOfAnotherProject(**network, node, metadata);
  return {own == node.network && !is_another,
          "this machine is in network `" + own + "`" +
              (is_another ? " of another project" : "")};
}

Result<std::optional<int>> WantedWorker(const std::string& which, int size,
                                        const TpuNode& node) {
  if (which == "all") {
    return std::optional<int>();
  }
  const auto number = ParseInt(which);
  if (!number || *number < 0) {
    return Usage("flag --worker is `" + Printable(which) +
                 "`, expected all or a worker number");
  }
  if (*number >= size) {
    return Usage("flag --worker is " + which + ", " + NameOf(node) + " has " +
                 (size == 1 ? "only worker 0"
                            : "workers 0 to " + std::to_string(size - 1)));
  }
  return std::optional(static_cast<int>(*number));
}

std::string PlainOr(const std::string& text, const char* otherwise) {
  return text.empty() ? otherwise : Printable(text);
}

// "me@example.com" has the user me_example_com, as OS Login makes it.
std::string OsLoginUser(const std::string& account) {
  const bool plain = account.find('@') != std::string::npos &&
                     std::all_of(account.begin(), account.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') ||
                              (c >= '0' && c <= '9') || c == '@' || c == '.' ||
                              c == '-' || c == '_';
                     });
  if (!plain || account.ends_with(".gserviceaccount.com")) {
    return "";
  }
  std::string user = account;
  std::replace_if(
      user.begin(), user.end(), [](char c) { return c == '@' || c == '.'; },
      '_');
  return user;
}

Result<Sourced<std::string>> UserOf(const TpuNode& node,
                                    const std::string& asked,
                                    const std::string& account,
                                    const sys::Host& host) {
  if (!asked.empty()) {
    return Sourced<std::string>{asked, "flag --user"};
  }
  if (node.os_login) {
    const std::string user = OsLoginUser(account);
    if (user.empty()) {
      return Usage(
          NameOf(node) +
          " has OS Login, where the user belongs to the account, and that of " +
          PlainOr(account, "this account") +
          " is unknown: set --user (`gcloud compute os-login describe-profile` "
          "shows it)");
    }
    return Sourced<std::string>{user, "OS Login of " + account};
  }
  const auto own = sys::FirstSet(host.env, {"USER", "LOGNAME"});
  return own ? Sourced<std::string>{own->value, "env " + own->name}
             : Sourced<std::string>{"", "ssh configuration"};
}

Finding Gone(const TpuNode& node, Cause cause, const std::string& what) {
  Finding finding =
      MakeFinding(cause, NameOf(node) + " " + what, Confidence::kCertain);
  finding.subjects = {node.name};
  finding.evidence = {{.what = "state " + PlainOr(node.state, "unknown") +
                               ", health " + PlainOr(node.health, "unknown"),
                       .source = "Cloud TPU API"}};
  if (!node.health_description.empty()) {
    finding.evidence.push_back({.what = Printable(node.health_description),
                                .source = "Cloud TPU API"});
  }
  return finding;
}

// It is made anew by hand: what it costs is for its user to decide.
std::vector<Fix> MakeAnew(const TpuNode& node) {
  const std::string zone = " --zone " + PlainOr(node.zone, "ZONE");
  const std::string name = " " + PlainOr(node.name, "NAME");
  return {{.text = "delete it, because it still counts against the quota",
           .command = "muster tpu delete" + name + zone,
           .safety = Safety::kCosts},
          {.text = "recreate it and start the same command again: it resumes "
                   "from the newest checkpoint outside the TPU",
           .command = CreateCommand(node),
           .safety = Safety::kCosts}};
}

}  // namespace

Result<AddressChoice> ParseAddressChoice(const std::string& text) {
  if (text == "auto") {
    return AddressChoice::kAuto;
  }
  if (text == "internal") {
    return AddressChoice::kInternal;
  }
  if (text == "external") {
    return AddressChoice::kExternal;
  }
  return Usage("flag --address is `" + Printable(text) +
               "`, expected auto, internal or external");
}

Result<TpuWorkers> FindWorkers(const TpuNode& node, const std::string& which,
                               AddressChoice choice, const sys::Host& host) {
  if (node.endpoints.empty()) {
    return Error(Cause::kTpuUnhealthy, NameOf(node) + " has no address");
  }
  std::vector<std::string> internal;
  for (const std::string& endpoint : node.endpoints) {
    MUSTER_ASSIGN(const auto address, Address::Parse(endpoint));
    internal.push_back(address.host);
  }
  const int size = static_cast<int>(internal.size());
  MUSTER_ASSIGN(const auto wanted, WantedWorker(which, size, node));
  TpuWorkers found;
  bool external = choice == AddressChoice::kExternal;
  found.why =
      external ? "external (flag --address)" : "internal (flag --address)";
  if (choice == AddressChoice::kAuto) {
    const Inside inside = LookInside(node, internal, host);
    external = !inside.yes && !node.external_addresses.empty();
    found.why = external     ? "external: " + inside.why
                : inside.yes ? "internal: " + inside.why
                             : "internal: it has no external addresses";
  }
  for (int i = 0; i < size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (wanted && *wanted != i) {
      continue;
    }
    const std::string outside =
        at < node.external_addresses.size() ? node.external_addresses[at] : "";
    if (external && outside.empty()) {
      return Usage("worker " + std::to_string(i) + " of " + NameOf(node) +
                   " has no external address: use --address internal from a "
                   "machine in network `" +
                   PlainOr(node.network, "default") + "`");
    }
    found.workers.push_back({.index = i,
                             .internal = internal[at],
                             .address = external ? outside : internal[at]});
  }
  return found;
}

Result<TpuLogin> FindLogin(const TpuNode& node, const std::string& user,
                           const std::string& account, const sys::Host& host) {
  TpuLogin login;
  MUSTER_ASSIGN(login.user, UserOf(node, user, account, host));
  const std::string folder = host.env.Get("HOME").value_or("") + "/.ssh/";
  login.known_hosts = folder + "google_compute_known_hosts";
  const std::string key = folder + "google_compute_engine";
  const std::string by_gcloud = "gcloud compute tpus tpu-vm ssh " +
                                PlainOr(node.name, "NAME") + " --zone " +
                                PlainOr(node.zone, "ZONE");
  if (host.fs.Exists(key)) {
    login.key_file = key;
    login.if_refused = "add the public key of " + Printable(key) +
                       " to the TPU with " + by_gcloud +
                       "; a new key takes a minute to propagate";
  } else {
    login.if_refused =
        "there is no " + Printable(key) +
        ": create one and register it with the TPU: " + by_gcloud;
  }
  login.if_refused += node.os_login
                          ? "; OS Login is on: gcloud compute os-login "
                            "ssh-keys add --key-file=" +
                                Printable(key) + ".pub"
                          : "; if the project uses OS Login, set the account's "
                            "user with --user";
  return login;
}

std::string HostKeyName(const TpuNode& node, int worker) {
  return "tpu." + (node.id.empty() ? node.name : node.id) + "-" +
         std::to_string(worker);
}

std::string CreateCommand(const TpuNode& node) {
  const bool is_usual =
      node.scheduling.empty() || node.scheduling == "on-demand";
  return "muster tpu create " + PlainOr(node.name, "NAME") + " --zone " +
         PlainOr(node.zone, "ZONE") + " --type " +
         PlainOr(node.accelerator_type, "TYPE") + " --version " +
         PlainOr(node.runtime_version, "VERSION") +
         (is_usual ? "" : " --" + node.scheduling) +
         (node.queued_resource.empty() ? "" : " --queued") + " --wait";
}

std::optional<Finding> WhyGone(const TpuNode& node) {
  if (node.state == "PREEMPTED" || node.state == "TERMINATED") {
    Finding finding = Gone(node, Cause::kPreempted,
                           "was preempted: its state is " + node.state);
    finding.fixes = MakeAnew(node);
    return finding;
  }
  if (node.state != "READY") {
    return Gone(node, Cause::kTpuUnhealthy,
                "is not READY but " + PlainOr(node.state, "without a state"));
  }
  if (!node.health.empty() && node.health != "HEALTHY") {
    return Gone(node, Cause::kTpuUnhealthy,
                "is READY but not HEALTHY: " + Printable(node.health));
  }
  return std::nullopt;
}

}  // namespace muster::cloud

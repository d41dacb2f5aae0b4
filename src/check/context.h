// SPDX-License-Identifier: Apache-2.0
// What checks look at: the machine through the seam, and what is to run on it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"
#include "identify/target.h"
#include "muster/cluster.h"
#include "muster/deadline.h"
#include "sys/host.h"
#include "sys/machine.h"

namespace muster::check {

// The Python environment of this host.
struct Frameworks {
  std::string place;  // empty: none was found
  std::map<std::string, std::string> versions;
  std::vector<Finding> problems;  // pairs that do not fit
};

// How the other members are looked for.
struct MeshSetup {
  Duration wait = std::chrono::milliseconds(2500);
  std::string token_file;  // empty: frames prove nothing
  // Bytes of the gradients that an all-reduce is estimated for.
  std::uint64_t gradient = 100'000'000;
};

// Servers of others that are asked who they are.
struct TargetSetup {
  std::vector<identify::Target> targets;  // --target
  std::string framework;  // whose servers the members are; empty: nobody's
  std::optional<int> replicas;  // that are expected
  Duration wait = std::chrono::milliseconds(2500);
  channel::MakeCaller callers;  // empty: gRPC is not spoken
};

// The TPU of a program that is to start. It opens the chips of its own host, or
// workers at addresses do.
struct TpuSetup {
  std::string source;  // who names it: "source tpu"; empty: nobody
  std::vector<identify::Target> workers;
  // Of the slice, where there are no workers.
  std::vector<identify::Target> hosts;
  std::size_t left_out = 0;                // hosts beyond those
  std::optional<Error> unasked;            // why the workers cannot be asked
  std::optional<Sourced<int>> chips_here;  // that this host should have
  std::optional<Sourced<int>> devices;     // that all should have together
};

// A plug-in that drives accelerators, found without being loaded.
struct FoundPlugin {
  std::string platform;  // "tpu", "cuda", "cpu"
  Sourced<std::string> path;
  std::string version;  // "libtpu 0.0.52" of its package; empty: not told
};

// Whether the devices of this host are opened, and with what.
struct OpeningSetup {
  bool asked = false;
  std::string refused;  // who did not want it, where it was asked for
  std::string plugin;   // flag --plugin; empty: the one that is found
  Duration patience = std::chrono::seconds(120);
};

// Fixed while checks run; no check writes to it.
struct Context {
  const sys::Host& host;
  const sys::Machine& machine;
  // nullptr: it could not be described, and the findings say why.
  const Cluster* cluster = nullptr;
  std::vector<Finding> cluster_findings;
  std::vector<std::string> checkpoints;  // folders that are written
  std::vector<std::string> data;         // files and folders that are read
  std::vector<std::string> command;      // that is to run; empty: not told
  std::string runs_dir = "runs";
  std::optional<MeshSetup> mesh;  // nullopt: nobody is looked for
  TargetSetup target;
  TpuSetup tpu;
  OpeningSetup opening;
  // May wait for a disk. Empty: nobody looks.
  std::function<std::vector<FoundPlugin>()> plugins;
  // May wait for a disk. Empty: nobody looks.
  std::function<Frameworks()> frameworks;
  // How far a check is that takes long. Empty: nobody listens.
  std::function<void(const std::string&)> say;
};

// Ranks that start on this host, at least 1.
int RanksHere(const Context& context);
// Members stand on more than one host, as far as their addresses tell.
bool SeveralHosts(const Cluster& cluster);
// The member of this process that is alone on its host's part; nullptr: all are
// ours, or there is no cluster.
const Member* Self(const Context& context);
// This process is that of rank 0, to which members of other hosts connect.
bool Coordinates(const Context& context);
// Hosts of members and of the coordinator, each once, in their order.
std::vector<std::string> HostsOf(const Cluster& cluster);

// Files of /dev that stand for chips: /dev/accelN, /dev/vfio/N where a TPU is
// on the PCI bus; /dev/nvidiaN.
std::vector<std::string> TpuDevices(const sys::Fs& fs);
std::vector<std::string> GpuDevices(const sys::Fs& fs);
// TPU chips and GPUs of NVIDIA on the PCI bus, with or without a driver.
int TpusOnBus(const sys::Fs& fs);
int GpusOnBus(const sys::Fs& fs);

// The number that a file holds; nullopt: no such file, "max", or text.
std::optional<std::int64_t> NumberIn(const sys::Fs& fs,
                                     const std::string& path);
// The number of "Name:   123 kB", as it stands there.
std::optional<std::int64_t> Field(std::string_view text, std::string_view name);

// A row of /proc/self/limits; nullopt in it: unlimited.
struct Limit {
  std::optional<std::int64_t> soft, hard;
};
std::optional<Limit> ReadLimit(const sys::Fs& fs, std::string_view name);

// The nearest folder on the way up that exists: where `path` would be made.
std::string NearestExisting(const sys::Host& host, const std::string& path);
// "gs://bucket/x" and the like: no file of this host.
bool IsRemote(std::string_view path);

}  // namespace muster::check

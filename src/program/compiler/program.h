// SPDX-License-Identifier: Apache-2.0
// Whether a program compiles, fits and is made for a topology: asked of the
// accelerator's own compiler, without an accelerator.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "finding/outcome.h"
#include "muster/cluster.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "pjrt/program/compile.h"
#include "pjrt/program/module.h"
#include "program/graph/judge.h"
#include "sys/host.h"

namespace muster::program {

// The one line that brings the compiler of TPUs.
constexpr std::string_view kInstallLibtpu = "pip install libtpu";

struct ProgramRequest {
  std::string file;
  std::string on;  // "v5e:2x4"
  Sourced<std::string> plugin;
  std::optional<int> replicas, partitions;  // absent: as the module says
  std::string signature;        // of a SavedModel, or a function; empty: all
  std::optional<int> examples;  // of a run, over all devices
  Duration patience = std::chrono::seconds(120);
  // The size of an artefact of jax.export that has a symbol for it, and the
  // Python that has jax to put it in; empty: there is none.
  std::optional<int> batch;
  std::string python;
  bool elsewhere = true;  // where it is too large, ask of other accelerators
};

// A program that is too large here, asked of another accelerator.
struct Elsewhere {
  std::string on;
  bool fits = false;
  std::optional<std::int64_t> memory;  // usable bytes of one device there
};

// What the program keeps in a device's memory, as it was compiled for `on`:
// where it is too large for the topology that was asked, for another one.
struct Kept {
  std::string on;
  pjrt::Holdings holdings;
};

// A graph of TensorFlow, judged by its operations.
struct GraphAnswer {
  std::string form;        // "SavedModel", "GraphDef (text)"
  std::string tensorflow;  // the version that wrote it; may be empty
  std::vector<program::graph::Judged> judged;
  std::vector<std::string> notes;
};

struct ProgramReport {
  Outcome outcome;
  std::optional<GraphAnswer> graph;  // then none of the others
  std::optional<pjrt::Container> container;
  // Of the program, as pjrt::Module has them.
  std::vector<std::vector<std::string>> arguments;
  std::string package;  // "libtpu 0.0.52": of the compiler; empty: not told
  Sourced<int> replicas, partitions;
  // Of a run, over all devices; absent: nobody says.
  std::optional<Sourced<std::int64_t>> examples;
  std::optional<pjrt::CompileAnswer> answer;
  std::vector<Elsewhere> elsewhere;
  // An Error: why the arrays are not known.
  std::optional<Result<Kept>> kept;
};

// Padding is worth telling from a fifth of the bytes and a hundredth of the
// device's memory on.
bool PaddingMatters(std::int64_t padding, std::int64_t bytes,
                    std::int64_t memory);

// usage-invalid: no name of a topology of TPUs ("v5e:2x4", "v5p:2x2x1"). The
// compiler itself takes an empty name for a TPU v2, so it is not asked.
Status CheckTopology(std::string_view name);

// The plug-in by precedence: the flag, TPU_LIBRARY_PATH, `tpu` of
// PJRT_NAMES_AND_LIBRARY_PATHS, the active Python's package, the system's
// libraries. A path that was told is taken whether it exists or not. nullopt:
// there is none.
std::optional<Sourced<std::string>> FindTpuPlugin(
    const sys::Host& host, const std::string& flag,
    const std::optional<Sourced<std::string>>& of_python);

// "libtpu 0.0.52" of the package that a plug-in's file lies in; empty: in none.
std::string PackageOf(const sys::Fs& fs, std::string_view plugin);

// Reads the file and asks. pass: it compiles and fits; fail: a finding says why
// not; broken: the compiler could not be asked, and the finding says why.
// Errors: usage-invalid for the request or a kind of file that is not read,
// file-missing and file-permission for the file. Main thread.
Result<ProgramReport> CheckProgram(const ProgramRequest& request,
                                   const sys::Host& host);

}  // namespace muster::program

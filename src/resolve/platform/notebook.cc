// SPDX-License-Identifier: Apache-2.0
#include "resolve/platform/notebook.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "resolve/variables.h"

namespace muster::resolve {
namespace {

constexpr const char* kName = "TPU_NAME";
constexpr std::size_t kLongestEnvironment = 4U << 20;
constexpr int kMaxAncestors = 32;
constexpr std::size_t kMaxProcesses = 4096;

std::string FirstMark(const sys::Host& host,
                      const std::vector<std::string>& variables,
                      const std::vector<std::string>& folders) {
  if (const Text text = FirstText(host.env, variables)) {
    return text->source;
  }
  for (const std::string& folder : folders) {
    if (host.fs.Exists(folder)) {
      return folder;
    }
  }
  return "";
}

struct Process {
  std::string id;
  std::string command;      // its first words
  std::string environment;  // as it was started with: NAME=VALUE\0…
  bool readable = false;

  bool IsNotebook() const {
    return command.find("ipykernel") != std::string::npos ||
           command.find("colab_kernel_launcher") != std::string::npos;
  }
  bool IsServer() const {
    return IsNotebook() || command.find("jupyter") != std::string::npos;
  }
  // Its program alone: an argument may be a secret.
  std::string Text() const {
    std::string program = command.substr(0, command.find(' '));
    program = program.substr(program.rfind('/') + 1);
    return std::string(IsNotebook() ? "a notebook's kernel, " : "") +
           "process " + id + " (`" + Printable(program.substr(0, 60)) + "`)";
  }
};

std::string PathOf(const std::string& id, const char* file) {
  return "/proc/" + id + "/" + file;
}

Process ReadProcess(const std::string& id, const sys::Fs& fs) {
  Process process{.id = id};
  if (auto command = fs.Read(PathOf(id, "cmdline"), 1U << 20)) {
    process.command = *std::move(command);
    std::replace(process.command.begin(), process.command.end(), '\0', ' ');
  }
  return process;
}

void ReadEnvironment(const sys::Fs& fs, Process& process) {
  auto environment =
      fs.Read(PathOf(process.id, "environ"), kLongestEnvironment);
  if (environment) {
    process.environment = *std::move(environment);
    process.readable = true;
  }
}

std::string ParentOf(const std::string& id, const sys::Fs& fs) {
  const auto status = fs.Read(PathOf(id, "status"), 1U << 16);
  if (!status) {
    return "";
  }
  for (const std::string& line : Split(*status, '\n')) {
    if (line.starts_with("PPid:")) {
      return std::string(Trim(std::string_view(line).substr(5)));
    }
  }
  return "";
}

// The processes that this one comes from, the nearest first; not init.
std::vector<Process> Ancestors(const sys::Fs& fs) {
  std::vector<Process> ancestors;
  std::string id = ParentOf("self", fs);
  while (!id.empty() && id != "0" && id != "1" &&
         std::ssize(ancestors) < kMaxAncestors) {
    ancestors.push_back(ReadProcess(id, fs));
    ReadEnvironment(fs, ancestors.back());
    id = ParentOf(id, fs);
  }
  return ancestors;
}

// Kernels of this host whose environment may be read: those of this user.
std::vector<Process> Kernels(const sys::Fs& fs) {
  std::vector<Process> kernels;
  auto names = fs.List("/proc");
  if (!names) {
    return kernels;
  }
  std::erase_if(*names, [](const std::string& one) { return !IsDigits(one); });
  names->resize(std::min(names->size(), kMaxProcesses));
  for (const std::string& id : *names) {
    Process process = ReadProcess(id, fs);
    if (process.IsNotebook()) {
      ReadEnvironment(fs, process);
      kernels.push_back(std::move(process));
    }
  }
  return kernels;
}

std::string ValueIn(const Process& process) {
  for (const std::string& entry : Split(process.environment, '\0')) {
    const auto equals = entry.find('=');
    if (entry.substr(0, equals) == kName && equals != std::string::npos) {
      return std::string(Trim(std::string_view(entry).substr(equals + 1)));
    }
  }
  return "";
}

std::optional<Finding> Lost(const std::vector<Process>& processes) {
  for (const Process& process : processes) {
    const std::string value = ValueIn(process);
    if (value.empty()) {
      continue;
    }
    return Warning(Cause::kLaunchEnvMissing,
                   std::string(kName) + " is not set here, but " +
                       process.Text() + " has " + kName + "=`" +
                       Printable(value) +
                       "`: a notebook's kernel and its shells do not share "
                       "variables, so set it here too");
  }
  return std::nullopt;
}

// A cell set it: the kernel was started without.
std::optional<Finding> SetByACell(const std::vector<Process>& ancestors) {
  const auto kernel = std::find_if(
      ancestors.begin(), ancestors.end(), [](const Process& process) {
        return process.IsNotebook() && process.readable;
      });
  if (kernel == ancestors.end() || !ValueIn(*kernel).empty()) {
    return std::nullopt;
  }
  Finding note = Warning(
      Cause::kLaunchEnvMissing,
      std::string(kName) + " was set after " + kernel->Text() +
          " started: a restarted kernel and other shells do not have it");
  note.severity = Severity::kNote;
  return note;
}

}  // namespace

std::string KaggleMark(const sys::Host& host) {
  return FirstMark(host, {"KAGGLE_KERNEL_RUN_TYPE", "KAGGLE_URL_BASE"},
                   {"/kaggle/input", "/kaggle/working"});
}

std::string ColabMark(const sys::Host& host) {
  return FirstMark(host, {"COLAB_RELEASE_TAG", "COLAB_GPU"}, {});
}

std::optional<Finding> FindLostTpuName(const sys::Host& host) {
  const auto ancestors = Ancestors(host.fs);
  if (IsSet(host.env, kName)) {
    return SetByACell(ancestors);
  }
  if (auto lost = Lost(ancestors)) {
    return lost;
  }
  const bool in_notebook =
      std::any_of(ancestors.begin(), ancestors.end(),
                  [](const Process& process) { return process.IsServer(); });
  return in_notebook ? Lost(Kernels(host.fs)) : std::nullopt;
}

}  // namespace muster::resolve

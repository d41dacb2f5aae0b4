// SPDX-License-Identifier: Apache-2.0
#include "pjrt/plugin/fault.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/status_code.h"
#include "base/text.h"

namespace muster::pjrt {
namespace {

bool Says(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// "E1000" where the text has "E1000: ", at its start or after other words.
std::string XlaCode(std::string_view text) {
  for (std::size_t at = 0; at + 6 < text.size(); ++at) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n';
    if (begins && text[at] == 'E' && IsDigits(text.substr(at + 1, 4)) &&
        text[at + 5] == ':') {
      return std::string(text.substr(at, 5));
    }
  }
  return "";
}

// What halts a core is in the words, not in the code.
Cause CauseOfHalt(std::string_view text) {
  for (const std::string_view part : {"Hardware", "Network", "Power"}) {
    if (Says(text, "observed errors are: [" + std::string(part))) {
      return Cause::kTpuUnhealthy;
    }
  }
  return Says(text, "launch id") ? Cause::kCollectiveDesync
                                 : Cause::kFrameworkBug;
}

struct XlaCause {
  std::string_view code;
  Cause cause;
};

// Codes that XLA documents with what they mean. E0000 to E0015 are the status
// codes again, and those that are not here say as much as their text does.
constexpr std::array<XlaCause, 12> kXlaCauses{{
    {"E0100", Cause::kOomDevice},      // a buffer
    {"E0101", Cause::kOomDevice},      // room for the program
    {"E0102", Cause::kUsageInvalid},   // a buffer of another size
    {"E1000", Cause::kOomDevice},      // HBM, compiling
    {"E1001", Cause::kOomDevice},      // scoped VMEM
    {"E1002", Cause::kOomDevice},      // HBM of both kinds of cores
    {"E1200", Cause::kOpUnsupported},  // an output that is left on the host
    {"E2001", Cause::kOpUnsupported},  // Mosaic: element type
    {"E2002", Cause::kOpUnsupported},  // Mosaic: block shape
    {"E2003", Cause::kOpUnsupported},  // Mosaic: alignment
    {"E3000", Cause::kOomDevice},      // memory of a SparseCore
    {"E3001", Cause::kOomDevice},      // scratch memory of a SparseCore
}};

std::optional<Cause> CauseOfXlaCode(std::string_view code,
                                    std::string_view text) {
  if (code == "E0200") {
    return CauseOfHalt(text);
  }
  const auto* known =
      std::find_if(kXlaCauses.begin(), kXlaCauses.end(),
                   [&](const XlaCause& one) { return one.code == code; });
  return known == kXlaCauses.end() ? std::nullopt : std::optional(known->cause);
}

struct Rule {
  std::string_view words;
  Cause cause;
};

// In this order; the first that the text says.
constexpr std::array<Rule, 28> kRules{{
    // Operations of the portable form: one that is not known is a newer one.
    {"unregistered operation 'vhlo.", Cause::kVerPluginMismatch},
    {"Mosaic failed to compile", Cause::kOpUnsupported},
    {"unregistered operation", Cause::kOpUnsupported},
    {"' is unknown", Cause::kOpUnsupported},
    {"lockfile", Cause::kDeviceBusy},
    {"already in use by", Cause::kDeviceBusy},
    {"Ran out of memory", Cause::kOomDevice},
    {"Unexpected PJRT_", Cause::kVerPluginMismatch},
    {"plugin is likely built with", Cause::kVerPluginMismatch},
    {"nsupported StableHLO version", Cause::kVerPluginMismatch},
    {"failed to deserialize portable artifact", Cause::kVerPluginMismatch},
    {"tile_assignment should have", Cause::kRankWorldMismatch},
    {"Number of replicas", Cause::kRankWorldMismatch},
    {"Number of partitions", Cause::kRankWorldMismatch},
    {"num_partitions", Cause::kRankWorldMismatch},
    {"No matching device found", Cause::kRankWorldMismatch},
    {"custom call named 'xla.sdy", Cause::kUsageInvalid},
    {"invalid bytecode", Cause::kFileCorrupt},
    {"requires module with `main`", Cause::kFileCorrupt},
    {"attempting to parse", Cause::kFileCorrupt},
    {"bytecode", Cause::kFileCorrupt},
    {"Failed to parse using StableHLO", Cause::kFileCorrupt},
    {"Invalid TPU external name", Cause::kUsageInvalid},
    {"does not match regex", Cause::kUsageInvalid},
    {"TPU initialization failed", Cause::kDeviceMissing},
    {"No visible GPU devices", Cause::kDeviceMissing},
    {"no supported devices found", Cause::kDeviceMissing},
    {"tatically shaped", Cause::kOpUnsupported},
}};

Cause CauseOfCode(pjrt::abi::Code code) {
  switch (code) {
    case pjrt::abi::Code::kUnknown:
    case pjrt::abi::Code::kInvalidArgument:
    case pjrt::abi::Code::kUnimplemented:
    case pjrt::abi::Code::kNotFound:
      return Cause::kOpUnsupported;
    case pjrt::abi::Code::kResourceExhausted:
      return Cause::kOomDevice;
    case pjrt::abi::Code::kCancelled:
      return Cause::kCancelled;
    case pjrt::abi::Code::kDeadlineExceeded:
      return Cause::kDeadlineExceeded;
    case pjrt::abi::Code::kPermissionDenied:
    case pjrt::abi::Code::kUnauthenticated:
      return Cause::kFilePermission;
    case pjrt::abi::Code::kUnavailable:
      return Cause::kDeviceBusy;
    default:
      return Cause::kFrameworkBug;
  }
}

// A program that compiled and now runs.
bool IsOfRunning(std::string_view call) {
  return call == "PJRT_LoadedExecutable_Execute" ||
         call == "PJRT_Buffer_ToHostBuffer" || call == "PJRT_Event_OnReady";
}

Cause CauseOfRunning(pjrt::abi::Code code) {
  switch (code) {
    case pjrt::abi::Code::kInvalidArgument:
      return Cause::kUsageInvalid;
    case pjrt::abi::Code::kAborted:
    case pjrt::abi::Code::kDataLoss:
    case pjrt::abi::Code::kUnavailable:
      return Cause::kDeviceHardwareFault;
    case pjrt::abi::Code::kUnknown:
      return Cause::kFrameworkBug;
    default:
      return CauseOfCode(code);
  }
}

// A topology that the plug-in does not make: a name of the user's.
bool IsOfTopology(std::string_view call) {
  return call == "PJRT_TopologyDescription_Create";
}

// "29.85G" in bytes.
std::optional<std::int64_t> Bytes(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (IsDigit(text[end]) || text[end] == '.')) {
    ++end;
  }
  if (end == 0 || end > 20) {
    return std::nullopt;
  }
  const double number =
      std::strtod(std::string(text.substr(0, end)).c_str(), nullptr);
  constexpr std::string_view kUnits = "BKMGTP";
  const auto unit = end < text.size() ? kUnits.find(text[end]) : 0;
  const double factor =
      unit == std::string_view::npos ? 1.0 : std::pow(1024.0, unit);
  const double bytes = number * factor;
  return bytes < 9e18 ? std::optional(std::llround(bytes)) : std::nullopt;
}

// The size after these words and an opening bracket or a blank.
std::optional<std::int64_t> BytesAfter(std::string_view text,
                                       std::string_view words) {
  const auto at = text.find(words);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  return Bytes(text.substr(at + words.size()));
}

// The ways in which compilers say what is needed and what there is.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSizes{{
    {"required for HLO temporaries (", "exceeds available HBM ("},
    {"memory space hbm. Used ", " of "},
    {"Allocation (size=", "exceed memory (size="},
    {"Hbm usage: ", "exceeding available bytes: "},
}};

void ReadMemory(std::string_view text, Fact& fact) {
  for (const auto& [before_needed, before_available] : kSizes) {
    const auto needed = BytesAfter(text, before_needed);
    const auto available =
        BytesAfter(text.substr(std::min(text.find(before_needed), text.size())),
                   before_available);
    if (needed && available) {
      // Two kinds of cores share the memory.
      fact.fields["needed"] =
          *needed + BytesAfter(text, "SparseCore Hbm usage ").value_or(0);
      fact.fields["available"] = *available;
      return;
    }
  }
}

// The file whose line ends the text; "-" is the program itself.
std::string FileBefore(std::string_view text) {
  const auto before = text.find_last_of(" \t\n\"'([");
  const auto file =
      before == std::string_view::npos ? text : text.substr(before + 1);
  return file == "-" || file.size() > 1000 ? "" : std::string(file);
}

// The first ":LINE:COLUMN" of the text, and the file before it.
void ReadPlace(std::string_view text, Fact& fact) {
  const auto number = [&](std::size_t& at) {
    const std::size_t begin = at;
    while (at < text.size() && IsDigit(text[at]) && at - begin < 9) {
      ++at;
    }
    return ParseInt(text.substr(begin, at - begin));
  };
  for (auto at = text.find(':'); at != std::string_view::npos;
       at = text.find(':', at + 1)) {
    std::size_t end = at + 1;
    const auto line = number(end);
    if (!line || end >= text.size() || text[end] != ':') {
      continue;
    }
    const auto column = number(++end);
    if (column && *line > 0) {
      fact.fields["line"] = *line;
      fact.fields["column"] = *column;
      if (const std::string file = FileBefore(text.substr(0, at));
          !file.empty()) {
        fact.fields["file"] = file;
      }
      return;
    }
  }
  // Later than the parser, the line alone: "Location:\n  -:4".
  constexpr std::string_view kLocation = "Location:\n  -:";
  const auto at = text.find(kLocation);
  if (at != std::string_view::npos) {
    std::size_t end = at + kLocation.size();
    if (const auto line = number(end)) {
      fact.fields["line"] = *line;
    }
  }
}

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) ||
         c == '_' || c == '.' || c == '$';
}

// The name that follows one of the ways in which compilers name an operation.
void ReadOperation(std::string_view text, Fact& fact) {
  for (const std::string_view words :
       {"unregistered operation '", "custom op '", "Custom emitter for ",
        "operand type for ", "custom call named '",
        "custom call target: ", "error: '"}) {
    const auto at = text.find(words);
    if (at == std::string_view::npos) {
      continue;
    }
    std::size_t end = at + words.size();
    while (end < text.size() && IsNameByte(text[end])) {
      ++end;
    }
    const auto name = text.substr(at + words.size(), end - at - words.size());
    if (!name.empty() && name.size() < 200) {
      fact.fields["op"] = std::string(name);
      return;
    }
  }
}

}  // namespace

std::string NameOf(pjrt::abi::Code code) {
  const auto number = static_cast<std::int64_t>(code);
  const auto name = NameOfStatusCode(number);
  return name ? std::string(*name) : "code " + std::to_string(number);
}

Cause CauseOf(const Fault& fault) {
  if (const auto cause = CauseOfXlaCode(XlaCode(fault.text), fault.text)) {
    return *cause;
  }
  for (const Rule& rule : kRules) {
    if (Says(fault.text, rule.words)) {
      return rule.cause;
    }
  }
  if (IsOfRunning(fault.call)) {
    return CauseOfRunning(fault.code);
  }
  const Cause cause = CauseOfCode(fault.code);
  // There is no program yet that could hold what is refused.
  const bool of_options = IsOfTopology(fault.call) ||
                          (fault.call == "PJRT_Client_Create" &&
                           fault.code == pjrt::abi::Code::kInvalidArgument);
  return cause == Cause::kOpUnsupported && of_options ? Cause::kUsageInvalid
                                                      : cause;
}

Error ToError(const Fault& fault) {
  const std::string text(
      Trim(std::string_view(fault.text).substr(0, kTextLimit)));
  Fact fact{.name = "pjrt.failed", .by = fault.call};
  fact.fields["call"] = fault.call;
  fact.fields["code"] = NameOf(fault.code);
  fact.fields["text"] = Printable(text);
  if (const std::string code = XlaCode(text); !code.empty()) {
    fact.fields["xla_code"] = code;
  }
  ReadPlace(text, fact);
  ReadOperation(text, fact);
  const Cause cause = CauseOf(fault);
  if (cause == Cause::kOomDevice) {
    ReadMemory(text, fact);
  }
  return Error(cause, fault.call + " answered " + NameOf(fault.code) + ": " +
                          Printable(text.substr(0, text.find('\n'))))
      .With(std::move(fact));
}

}  // namespace muster::pjrt

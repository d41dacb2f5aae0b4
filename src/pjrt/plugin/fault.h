// SPDX-License-Identifier: Apache-2.0
// What a plug-in answers when a call fails, and which cause that is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "muster/error.h"
#include "pjrt/plugin/abi.h"

namespace muster::pjrt {

// The words of a plug-in are cut to this many bytes.
constexpr std::size_t kTextLimit = 4000;

struct Fault {
  std::string call;  // "PJRT_Compile"
  pjrt::abi::Code code = pjrt::abi::Code::kUnknown;
  std::string text;  // as the plug-in wrote it
};

// By XLA's code at the head of the text where XLA documents it (E0100 to
// E3001), else by what the text says, else by the call and the status code:
// what a running program ends with is another matter than what a compiler
// refuses. Never net or peer causes.
Cause CauseOf(const Fault& fault);

// The text bounded and printable, in the message and in a fact `pjrt.failed`
// with the fields call, code, xla_code and, where the text has them, line,
// column, op, needed and available (bytes).
Error ToError(const Fault& fault);

// "INVALID_ARGUMENT"; "code 99" for a number that the interface does not have.
std::string NameOf(pjrt::abi::Code code);

}  // namespace muster::pjrt

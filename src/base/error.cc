// SPDX-License-Identifier: Apache-2.0
#include "muster/error.h"

#include <cstdio>
#include <cstdlib>

#include "base/text.h"

namespace muster {

Error::Error(Cause cause, std::string message, const char* file, int line)
    : cause_(cause), message_(std::move(message)), file_(file), line_(line) {}

Error&& Error::With(Fact fact) && {
  evidence_.push_back(std::move(fact));
  return std::move(*this);
}

Error&& Error::While(std::string doing) && {
  context_.push_back(std::move(doing));
  return std::move(*this);
}

Error&& Error::Then(const Error& consequence) && {
  context_.push_back("then " + consequence.ToString());
  for (const Fact& fact : consequence.evidence_) {
    evidence_.push_back(fact);
  }
  return std::move(*this);
}

Error Error::Reworded(std::string message) const {
  Error told = *this;
  told.message_ = std::move(message);
  return told;
}

std::string Error::ToString() const {
  std::string text{Label(cause_)};
  text += ": ";
  text += message_;
  for (const std::string& doing : context_) {
    text += " (" + doing + ")";
  }
  return text;
}

namespace internal {

void DieOfUnreadError(const Error& error) {
  std::fprintf(stderr, "muster: a failed result was used as a value: %s\n",
               Printable(error.ToString()).c_str());
  std::abort();
}

void DieOfFailedCheck(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "muster: internal-error: %s does not hold at %s:%d\n",
               condition, file, line);
  std::abort();
}

}  // namespace internal
}  // namespace muster

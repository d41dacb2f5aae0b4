// SPDX-License-Identifier: Apache-2.0
// Error and Result: a failure always has a cause of the catalog.
//
//   Result<Cluster> ReadHosts(std::string_view text) {
//     MUSTER_ASSIGN(auto addresses, ParseAddresses(text));
//     if (addresses.empty()) {
//       return Error(Cause::kClusterSpecInvalid, "the host list is empty");
//     }
//     return MakeCluster(addresses);
//   }
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "muster/cause.h"
#include "muster/fact.h"

namespace muster {

// Why something failed: the cause, what happened in one sentence (lower case,
// no full stop, names in backticks), what was observed, and what was being
// done. Cannot be created without a cause. A value type; any thread.
class [[nodiscard]] Error {
 public:
  // file and line are those of the caller.
  Error(Cause cause, std::string message, const char* file = __builtin_FILE(),
        int line = __builtin_LINE());

  // Adds an observation that the cause rests on.
  Error&& With(Fact fact) &&;
  // Adds what was being done, once per layer; the outermost is added last.
  Error&& While(std::string doing) &&;
  // Attaches a later failure. The first cause is kept, never replaced.
  Error&& Then(const Error& consequence) &&;

  // The same failure with another message.
  Error Reworded(std::string message) const;

  // The label of the catalog.
  Cause cause() const { return cause_; }
  // What happened, in one sentence.
  const std::string& message() const { return message_; }
  // What was observed.
  const std::vector<Fact>& evidence() const { return evidence_; }
  // What was being done, innermost first.
  const std::vector<std::string>& context() const { return context_; }
  // Where it was made.
  const char* file() const { return file_; }
  // Where it was made.
  int line() const { return line_; }

  // "net-name-resolution: `w-3` does not resolve (while gathering members)".
  std::string ToString() const;

 private:
  Cause cause_;
  std::string message_;
  std::vector<Fact> evidence_;
  std::vector<std::string> context_;
  const char* file_;
  int line_;
};

namespace internal {
[[noreturn]] void DieOfUnreadError(const Error& error);
[[noreturn]] void DieOfFailedCheck(const char* condition, const char* file,
                                   int line);
}  // namespace internal

// A value or an Error. The names are those of std::expected where they
// coincide. Ignoring one is a compile error; reading the value of a failed
// result prints the error and aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  // Of the value.
  using value_type = T;

  // A success.
  // NOLINTNEXTLINE(google-explicit-constructor): `return value;` must work.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // A failure.
  // NOLINTNEXTLINE(google-explicit-constructor): `return error;` must work.
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  // Whether it succeeded.
  bool has_value() const { return state_.index() == 0; }
  // Whether it succeeded.
  explicit operator bool() const { return has_value(); }

  // The value; aborts with the error if there is none. So do * and ->.
  T& value() & {
    RequireValue();
    return *std::get_if<0>(&state_);
  }
  // The same.
  const T& value() const& {
    RequireValue();
    return *std::get_if<0>(&state_);
  }
  // The value, moved.
  T&& value() && {
    RequireValue();
    return std::move(*std::get_if<0>(&state_));
  }
  // value().
  T& operator*() & { return value(); }
  // value().
  const T& operator*() const& { return value(); }
  // value().
  T&& operator*() && { return std::move(*this).value(); }
  // A member of value().
  T* operator->() { return &value(); }
  // A member of value().
  const T* operator->() const { return &value(); }

  // The value, or this if it failed.
  template <typename U>
  T value_or(U&& fallback) && {
    return has_value() ? std::move(*std::get_if<0>(&state_))
                       : static_cast<T>(std::forward<U>(fallback));
  }

  // The error; aborts if it succeeded.
  const Error& error() const& {
    if (has_value()) {
      internal::DieOfFailedCheck("Result::error() of a value", __FILE__,
                                 __LINE__);
    }
    return *std::get_if<1>(&state_);
  }
  // The error, moved.
  Error&& error() && {
    return std::move(const_cast<Error&>(std::as_const(*this).error()));
  }

 private:
  void RequireValue() const {
    if (!has_value()) {
      internal::DieOfUnreadError(*std::get_if<1>(&state_));
    }
  }

  std::variant<T, Error> state_;
};

// The value of a call that returns only success.
struct Unit {
  bool operator==(const Unit&) const = default;
};
// Success, or an Error.
using Status = Result<Unit>;
// Success.
inline Status Ok() {
  return Unit{};
}

}  // namespace muster

#define MUSTER_CONCAT_INNER(a, b) a##b
#define MUSTER_CONCAT(a, b) MUSTER_CONCAT_INNER(a, b)

// Returns the error of a failed Status or Result from the calling function.
#define MUSTER_TRY(expression)                               \
  do {                                                       \
    if (auto muster_status = (expression); !muster_status) { \
      return std::move(muster_status).error();               \
    }                                                        \
  } while (false)

// Declares or assigns `target` from a Result; returns its error if it failed.
#define MUSTER_ASSIGN(target, expression)                              \
  MUSTER_ASSIGN_INNER(MUSTER_CONCAT(muster_result_, __LINE__), target, \
                      expression)
#define MUSTER_ASSIGN_INNER(result, target, expression) \
  auto result = (expression);                           \
  if (!result) {                                        \
    return std::move(result).error();                   \
  }                                                     \
  target = std::move(result).value()

// An invariant of muster itself, never a check of input: aborts.
#define MUSTER_CHECK(condition)                                             \
  do {                                                                      \
    if (!(condition)) {                                                     \
      ::muster::internal::DieOfFailedCheck(#condition, __FILE__, __LINE__); \
    }                                                                       \
  } while (false)

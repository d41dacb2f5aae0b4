// SPDX-License-Identifier: Apache-2.0
// Work with a plug-in in a child that is ended at the deadline, and where it
// takes too much memory: a plug-in may hang, end its process, or want more for
// a program than this host has.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "sys/process/child_work.h"

namespace muster::pjrt {

struct ChildQuestion {
  std::string plugin;  // named where it does not answer
  // What the child does. It says how far it is: "opening the devices".
  std::function<Result<Json>(const sys::ChildWork::Say& say)> ask;
  // Hears what the child says, here. May be empty.
  std::function<void(const std::string&)> hear;
  sys::ChildSurroundings surroundings;
  // Bytes that it may take; absent: three quarters of what this host has
  // available when it begins.
  std::optional<std::uint64_t> memory;
};

// The child's answer, or the Error that it ended with. deadline-exceeded: no
// answer in time, and where it was; oom-host: it took more memory than it may,
// or the kernel ended it for memory; framework-bug: the plug-in ended its
// process. Main thread.
Result<Json> AskInChild(const ChildQuestion& question, Deadline deadline);

// An Error with its evidence, there and back.
Json ErrorToJson(const Error& error);
Error ErrorFromJson(const Json& json);

}  // namespace muster::pjrt

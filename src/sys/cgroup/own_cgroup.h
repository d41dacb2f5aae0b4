// SPDX-License-Identifier: Apache-2.0
// A control group (v2) that we make for the processes that we start: what is in
// it ends at one write, whoever its parent is and however fast it forks.
// Documentation: admin-guide/cgroup-v2.rst of Linux, "cgroup.kill".
#pragma once

#include <string>
#include <vector>

#include "muster/error.h"
#include "sys/file/fd.h"

namespace muster::sys {

// It lies below our own group, enables no controller, and so changes no limit.
// As long as any process holds it open, it is locked; one that nobody holds is
// what an owner that was killed has left. Any thread.
class OwnCgroup {
 public:
  // Ends first what earlier owners have left beside it. os-limit, file-missing,
  // file-permission and the rest of Fs: none can be made here, and why.
  static Result<OwnCgroup> Make();

  const std::string& path() const { return path_; }
  // A process writes "0" here to enter.
  int entrance() const { return entrance_.get(); }
  // All that it has open.
  std::vector<int> Descriptors() const {
    return {lock_.get(), entrance_.get(), kill_.get()};
  }

  // KILL to all that are in it, at once.
  void Kill() const;
  // It and what is below it, when no process is left in them.
  void Remove() const;

 private:
  OwnCgroup(std::string path, Fd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  static Result<OwnCgroup> MakeBelow(const std::string& parent);

  std::string path_;
  Fd lock_;
  Fd entrance_;
  Fd kill_;
};

}  // namespace muster::sys

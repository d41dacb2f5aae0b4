// SPDX-License-Identifier: Apache-2.0
// A shared object loaded at run time.
#pragma once

#include <string>

#include "muster/error.h"

namespace muster::sys {

// Stays loaded until the process ends: plug-ins of accelerators start threads
// that outlive every call. A value; any thread.
class Library {
 public:
  // The file that is checked is the one that is loaded, whatever the loader's
  // search path. file-missing: no such file. file-permission: not readable, or
  // another user than root and this one could have written it. file-corrupt:
  // it is no shared object of this machine. ver-abi: it needs a symbol or a
  // library that is not here; the loader's words are in the message.
  static Result<Library> Open(const std::string& named);

  // ver-plugin-mismatch: it exports no such symbol.
  Result<void*> Symbol(const std::string& name) const;

  const std::string& path() const { return path_; }

 private:
  Library(std::string path, void* handle)
      : path_(std::move(path)), handle_(handle) {}

  std::string path_;
  void* handle_;
};

}  // namespace muster::sys

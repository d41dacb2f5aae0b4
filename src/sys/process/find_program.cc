// SPDX-License-Identifier: Apache-2.0
#include "sys/process/find_program.h"

#include "base/text.h"

namespace muster::sys {

std::string FindProgram(const Env& env, const Fs& fs, const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return fs.Exists(name) ? name : "";
  }
  for (const std::string& directory :
       Split(env.Get("PATH").value_or("/usr/bin:/bin"), ':')) {
    std::string path = JoinPath(directory.empty() ? "." : directory, name);
    if (fs.Exists(path)) {
      return path;
    }
  }
  return "";
}

}  // namespace muster::sys

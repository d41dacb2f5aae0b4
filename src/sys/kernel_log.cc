// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel_log.h"

#include <sys/klog.h>

#include <cerrno>

#include "sys/file/fs.h"

namespace muster::sys {

Result<std::string> KernelLog(std::size_t limit) {
  constexpr int kReadAll = 3;  // SYSLOG_ACTION_READ_ALL of syslog(2)
  std::string text(limit, '\0');
  const int read =
      klogctl(kReadAll, text.data(), static_cast<int>(text.size()));
  if (read < 0) {
    return FromErrno("syslog", "the kernel log", errno);
  }
  text.resize(static_cast<std::size_t>(read));
  return text;
}

}  // namespace muster::sys

// SPDX-License-Identifier: Apache-2.0
// Writes an event file for tensorboard_test.py: write_event_file DIRECTORY
#include <cstdio>

#include "monitor/metric/event_file.h"
#include "sys/file/fs.h"
#include "sys/time/clock.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  muster::sys::RealFs fs;
  auto file = muster::monitor::EventFile::Open(
      fs, argv[1], "testhost", muster::sys::RealClock().WallNow());
  if (!file) {
    std::fprintf(stderr, "%s\n", file.error().ToText().c_str());
    return 1;
  }
  for (std::int64_t step = 0; step <= 500; step += 100) {
    const muster::monitor::Scalar scalars[] = {
        {"loss", 1.0 / (1.0 + static_cast<double>(step))},
        {"steps_per_second", 400.5},
        {"input_wait", 0.25}};
    auto written =
        (*file)->Write(muster::sys::RealClock().WallNow(), step, scalars);
    if (!written) {
      std::fprintf(stderr, "%s\n", written.error().ToText().c_str());
      return 1;
    }
  }
  return 0;
}

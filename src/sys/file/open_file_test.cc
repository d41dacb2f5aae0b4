// SPDX-License-Identifier: Apache-2.0
#include "sys/file/open_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "sys/file/file_lock.h"
#include "sys/file/fs.h"
#include "sys/file/private_file.h"
#include "sys/testing.h"

namespace muster::sys {
namespace {

class OpenFile : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
    ASSERT_EQ(mkdir((folder / "folder").c_str(), 0700), 0);
    const Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::strncpy(address.sun_path, (folder / "socket").c_str(),
                 sizeof address.sun_path - 1);
    ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address),
                   sizeof address),
              0);
    ASSERT_EQ(symlink("/dev/zero", (folder / "zero").c_str()), 0);
    ASSERT_EQ(symlink("fifo", (folder / "link").c_str()), 0);
  }

  TemporaryFolder folder;
};

TEST_F(OpenFile, RefusesWhatIsNoFileAtOnce) {
  for (const char* name : {"fifo", "folder", "socket", "zero", "link"}) {
    const std::string path = folder / name;
    RealFs fs;
    EXPECT_FALSE(fs.Read(path)) << name;
    EXPECT_FALSE(fs.OpenAppender(path)) << name;
    EXPECT_FALSE(LockFile(path)) << name;
    EXPECT_FALSE(ReadPrivateFile(path, 100)) << name;
  }
  EXPECT_EQ(OpenToRead(folder / "fifo").error().message(),
            "`" + (folder / "fifo") + "` is a named pipe, not a regular file");
}

TEST_F(OpenFile, ReadsANamedPipeWhoseWriterComesLate) {
  std::jthread writer([this] {
    // So that the reader is there first; the answer is the same if it is not.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::ofstream(folder / "fifo") << "late";
  });
  EXPECT_EQ(RealFs().ReadNamed(folder / "fifo").value(), "late");
}

TEST_F(OpenFile, ReadsThePipeOfACommand) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "early", 5), 5);
  close(ends[1]);
  const Fd kept(ends[0]);
  EXPECT_EQ(RealFs().ReadNamed("/dev/fd/" + std::to_string(ends[0])).value(),
            "early");
}

}  // namespace
}  // namespace muster::sys

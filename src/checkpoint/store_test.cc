// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "muster/checkpoint.h"
#include "sys/file/fs.h"
#include "sys/testing.h"

namespace muster {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class CheckpointStoreTest : public testing::Test {
 protected:
  CheckpointStore Open(int keep = 3) {
    return CheckpointStore::Open({.directory = directory_, .keep = keep})
        .value();
  }

  // Weights that tell the step.
  static Status SaveStep(CheckpointStore& store, std::uint64_t step) {
    const std::vector<float> weights(10, static_cast<float>(step));
    const std::vector<std::uint8_t> mask{1, 2, 3};
    const std::vector<TensorView> tensors = {
        {{.name = "mask", .dtype = DType::kUInt8, .shape = {3}},
         std::as_bytes(std::span(mask))},
        {{.name = "weights", .shape = {2, 5}},
         std::as_bytes(std::span(weights))}};
    return store.Save(step, tensors, {{"position", std::to_string(step)}});
  }

  static void ExpectStep(const Checkpoint& checkpoint, std::uint64_t step) {
    EXPECT_EQ(checkpoint.step, step);
    EXPECT_EQ(checkpoint.metadata, (std::map<std::string, std::string>{
                                       {"position", std::to_string(step)}}));
    const auto bytes = checkpoint.Find("weights");
    ASSERT_TRUE(bytes && bytes->size() == 40);
    float first = 0;
    std::memcpy(&first, bytes->data(), sizeof first);
    EXPECT_EQ(first, static_cast<float>(step));
    EXPECT_FALSE(checkpoint.Find("nothing"));
  }

  std::string Path(std::uint64_t step, const std::string& file) const {
    return directory_ + "/step-000000000" + std::to_string(step) + "/" + file;
  }
  static std::string Read(const std::string& path) {
    return sys::RealFs().Read(path).value();
  }
  static void Write(const std::string& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  // What is loaded after the newest of two was damaged, and what is said.
  static std::string SkipReason(const CheckpointStore& store) {
    const auto outcome = store.LoadNewest();
    EXPECT_TRUE(outcome) << outcome.error().ToString();
    EXPECT_TRUE(outcome->checkpoint);
    ExpectStep(*outcome->checkpoint, 1);
    EXPECT_EQ(outcome->skipped.size(), 1U);
    return outcome->skipped.empty() ? "" : outcome->skipped[0].ToString();
  }

  const sys::TemporaryFolder folder_;
  const std::string root_ = folder_.path();
  std::string directory_ = root_ + "/deeper/still";
};

TEST_F(CheckpointStoreTest, LoadsTheNewestOfWhatWasSaved) {
  {
    auto store = Open();
    ASSERT_TRUE(SaveStep(store, 1));
    ASSERT_TRUE(SaveStep(store, 2));
  }
  const auto store = Open();
  const auto outcome = store.LoadNewest();
  ASSERT_TRUE(outcome && outcome->checkpoint);
  ExpectStep(*outcome->checkpoint, 2);
  EXPECT_THAT(outcome->skipped, testing::IsEmpty());
  ExpectStep(store.Load(1).value(), 1);
}

TEST_F(CheckpointStoreTest, NothingThereIsNoError) {
  const auto outcome = Open().LoadNewest();
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->checkpoint);
  EXPECT_EQ(Open().Load(3).error().cause(), Cause::kFileMissing);
}

TEST_F(CheckpointStoreTest, KeepsTheLastOnes) {
  auto store = Open(2);
  for (const std::uint64_t step : {1U, 2U, 5U, 6U}) {
    ASSERT_TRUE(SaveStep(store, step));
  }
  EXPECT_THAT(store.Steps().value(), ElementsAre(5, 6));
}

TEST_F(CheckpointStoreTest, CountsNoDamagedOneAmongThoseItKeeps) {
  auto store = Open(2);
  for (const std::uint64_t step : {1U, 2U}) {
    ASSERT_TRUE(SaveStep(store, step));
  }
  Write(Path(2, "model.safetensors"), "cut off");
  ASSERT_TRUE(SaveStep(store, 3));
  EXPECT_THAT(store.Steps().value(), ElementsAre(1, 2, 3));
  ASSERT_TRUE(SaveStep(store, 4));
  EXPECT_THAT(store.Steps().value(), ElementsAre(3, 4));
}

TEST_F(CheckpointStoreTest, NeverRemovesWhatItHasJustSaved) {
  auto store = Open(1);
  ASSERT_TRUE(SaveStep(store, 9));
  ASSERT_TRUE(SaveStep(store, 2));  // a training that went back
  EXPECT_THAT(store.Steps().value(), ElementsAre(2, 9));
}

TEST_F(CheckpointStoreTest, EqualStatesGiveEqualBytes) {
  auto store = Open();
  ASSERT_TRUE(SaveStep(store, 1));
  const std::string tensors = Read(Path(1, "model.safetensors"));
  const std::string manifest = Read(Path(1, "manifest.json"));
  ASSERT_TRUE(SaveStep(store, 1));  // also: a step is saved over itself
  EXPECT_EQ(Read(Path(1, "model.safetensors")), tensors);
  EXPECT_EQ(Read(Path(1, "manifest.json")), manifest);
  EXPECT_THAT(sys::RealFs().List(directory_).value(),
              ElementsAre(".lock", "step-0000000001"));
}

TEST_F(CheckpointStoreTest, IgnoresNamesThatAreNotItsOwn) {
  std::vector<std::string> names = {".tmp-mywork",         ".tmp-notes.before",
                                    ".tmp-step-12.before", "other",
                                    "step-00000000-1",     "step-12"};
  for (const std::string& name : names) {
    fs::create_directories(directory_ + "/" + name);
  }
  EXPECT_THAT(Open().Steps().value(), testing::IsEmpty());
  names.insert(names.begin(), ".lock");
  EXPECT_EQ(sys::RealFs().List(directory_).value(), names);
}

// ---- Faults ----

TEST_F(CheckpointStoreTest, TakesTheOneBeforeWhereverTheFileIsCutOff) {
  auto store = Open();
  ASSERT_TRUE(SaveStep(store, 1));
  ASSERT_TRUE(SaveStep(store, 2));
  const std::string path = Path(2, "model.safetensors");
  const std::string whole = Read(path);
  std::uint64_t header = 0;
  std::memcpy(&header, whole.data(), sizeof header);
  const std::size_t buffer = 8 + header;
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{7}, std::size_t{8}, buffer / 2, buffer - 1,
        buffer, buffer + 1, whole.size() - 4, whole.size() - 1}) {
    Write(path, std::string_view(whole).substr(0, length));
    EXPECT_THAT(SkipReason(store),
                testing::AllOf(HasSubstr("is truncated"), HasSubstr("step 2")))
        << length;
  }
  Write(path, whole + "x");
  EXPECT_THAT(SkipReason(store), HasSubstr("is larger than"));
}

TEST_F(CheckpointStoreTest, TakesTheOneBeforeWhereverAByteIsFlipped) {
  auto store = Open();
  ASSERT_TRUE(SaveStep(store, 1));
  ASSERT_TRUE(SaveStep(store, 2));
  const std::string path = Path(2, "model.safetensors");
  const std::string whole = Read(path);
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    Write(path, damaged);
    EXPECT_THAT(SkipReason(store), HasSubstr("CRC-32C")) << at;
  }
}

// As large as no memory, and it costs no block of the disk.
TEST_F(CheckpointStoreTest, OneThatIsLargerThanItsTensorsIsNotReadToItsEnd) {
  auto store = Open();
  ASSERT_TRUE(SaveStep(store, 1));
  ASSERT_TRUE(SaveStep(store, 2));
  const std::string path = Path(2, "model.safetensors");
  const std::string bytes = std::to_string(fs::file_size(path));
  const std::string manifest = Path(2, "manifest.json");
  std::string text = Read(manifest);
  const auto at = text.find(": " + bytes);
  ASSERT_NE(at, text.npos);
  text.replace(at + 2, bytes.size(), "1099511627776");
  Write(manifest, text);
  fs::resize_file(path, 1ULL << 40);
  EXPECT_THAT(SkipReason(store), HasSubstr("its tensors need 43 bytes"));
}

TEST_F(CheckpointStoreTest, OneWithoutItsManifestIsNotComplete) {
  auto store = Open();
  ASSERT_TRUE(SaveStep(store, 1));
  ASSERT_TRUE(SaveStep(store, 2));
  fs::remove(Path(2, "manifest.json"));
  EXPECT_THAT(SkipReason(store), HasSubstr("manifest.json"));
  Write(Path(2, "manifest.json"), "{}");
  EXPECT_THAT(SkipReason(store), HasSubstr("lacks schema"));
}

// As a bad sector does: what opens gives no bytes.
TEST_F(CheckpointStoreTest, PassesOverWhatTheDiskDoesNotGive) {
  auto store = Open();
  ASSERT_TRUE(SaveStep(store, 1));
  ASSERT_TRUE(SaveStep(store, 2));
  fs::remove(Path(2, "model.safetensors"));
  fs::create_directories(Path(2, "model.safetensors"));
  EXPECT_THAT(SkipReason(store), HasSubstr("EISDIR"));
}

TEST_F(CheckpointStoreTest, AManifestOfAnotherStepIsDamaged) {
  auto store = Open();
  ASSERT_TRUE(SaveStep(store, 1));
  ASSERT_TRUE(SaveStep(store, 2));
  fs::copy_file(Path(1, "manifest.json"), Path(2, "manifest.json"),
                fs::copy_options::overwrite_existing);
  EXPECT_THAT(SkipReason(store), HasSubstr("is for step 1"));
}

TEST_F(CheckpointStoreTest, AllBadOnesAreNamedNewestFirst) {
  auto store = Open();
  for (const std::uint64_t step : {1U, 2U, 3U}) {
    ASSERT_TRUE(SaveStep(store, step));
    Write(Path(step, "model.safetensors"), "");
  }
  const auto outcome = store.LoadNewest();
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->checkpoint);
  ASSERT_EQ(outcome->skipped.size(), 3U);
  EXPECT_THAT(outcome->skipped[0].ToString(), HasSubstr("step 3"));
  EXPECT_THAT(outcome->skipped[2].ToString(), HasSubstr("step 1"));
}

TEST_F(CheckpointStoreTest, AnotherFormatIsNotPassedOver) {
  auto store = Open();
  ASSERT_TRUE(SaveStep(store, 1));
  ASSERT_TRUE(SaveStep(store, 2));
  Write(Path(2, "manifest.json"),
        R"({"schema": "muster.checkpoint/2", "writer": "muster 9.0.0"})");
  const auto outcome = store.LoadNewest();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().cause(), Cause::kCkptMismatch);
}

TEST_F(CheckpointStoreTest, RemovesWhatAnInterruptedSaveHasLeft) {
  {
    auto store = Open();
    ASSERT_TRUE(SaveStep(store, 1));
  }
  fs::create_directories(directory_ + "/.tmp-step-0000000002");
  Write(directory_ + "/.tmp-step-0000000002/model.safetensors", "half");
  auto store = Open();
  EXPECT_THAT(sys::RealFs().List(directory_).value(),
              ElementsAre(".lock", "step-0000000001"));
  ExpectStep(*store.LoadNewest()->checkpoint, 1);
}

TEST_F(CheckpointStoreTest, PutsBackWhatAKilledSaveHadSetAside) {
  {
    auto store = Open();
    ASSERT_TRUE(SaveStep(store, 1));
  }
  fs::rename(directory_ + "/step-0000000001",
             directory_ + "/.tmp-step-0000000001.before");
  fs::create_directories(directory_ + "/.tmp-step-0000000001");
  auto store = Open();
  EXPECT_THAT(sys::RealFs().List(directory_).value(),
              ElementsAre(".lock", "step-0000000001"));
  ExpectStep(*store.LoadNewest()->checkpoint, 1);
}

// Root may write anywhere: these places take nothing from anybody.
TEST_F(CheckpointStoreTest, SaysAtTheStartThatItCannotWrite) {
  fs::create_directories(fs::path(directory_).parent_path());
  Write(fs::path(directory_).parent_path().string() + "/file", "x");
  for (const std::string& place :
       {fs::path(directory_).parent_path().string() + "/file",
        fs::path(directory_).parent_path().string() + "/file/deeper",
        std::string("/proc/muster-checkpoints"),
        std::string("/proc/sys/kernel")}) {
    const auto store = CheckpointStore::Open({.directory = place});
    ASSERT_FALSE(store) << place;
    EXPECT_EQ(store.error().cause(), Cause::kFilePermission)
        << store.error().ToString();
    EXPECT_THAT(store.error().ToString(), HasSubstr(place));
  }
}

TEST_F(CheckpointStoreTest, RefusesASecondWriterAndHarmsNotTheFirst) {
  auto store = Open();
  fs::create_directories(directory_ + "/.tmp-step-0000000001");
  const auto second = CheckpointStore::Open({.directory = directory_});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().cause(), Cause::kCkptPlacement);
  EXPECT_THAT(second.error().message(), HasSubstr(directory_ + "/.lock"));
  EXPECT_TRUE(fs::exists(directory_ + "/.tmp-step-0000000001"));
  EXPECT_TRUE(SaveStep(store, 1));
}

// A file server may keep the lock of a machine that was lost.
TEST_F(CheckpointStoreTest, GoesOnWhereAnotherMachineHoldsTheLock) {
  const auto lost = Open();
  Write(directory_ + "/.lock", "the boot of another machine");
  auto store = Open();
  EXPECT_TRUE(SaveStep(store, 1));
}

TEST_F(CheckpointStoreTest, RefusesToKeepNone) {
  const auto store =
      CheckpointStore::Open({.directory = directory_, .keep = 0});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().cause(), Cause::kUsageInvalid);
}

constexpr int kNotPossible = 77;

// Seen by this process only.
bool MountSmallDisk(const std::string& place) {
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", place.c_str(), "tmpfs", 0, "size=1m") == 0;
}

// Runs in a child with a file system of 1 MiB of its own.
int OnASmallDisk(const std::string& place) {
  if (!MountSmallDisk(place)) {
    return kNotPossible;
  }
  auto store = CheckpointStore::Open({.directory = place + "/ckpt"}).value();
  const auto save = [&](std::uint64_t step, std::size_t bytes) {
    const std::vector<std::byte> data(bytes);
    const TensorView tensor{{.name = "w",
                             .dtype = DType::kUInt8,
                             .shape = {static_cast<std::int64_t>(bytes)}},
                            data};
    return store.Save(step, {&tensor, 1}, {});
  };
  if (!save(1, 100'000)) {
    return 1;
  }
  const auto full = save(2, 2'000'000);
  if (full || full.error().cause() != Cause::kDiskFull) {
    return 2;
  }
  const auto left = store.LoadNewest();
  if (!left || !left->checkpoint || left->checkpoint->step != 1 ||
      !left->skipped.empty()) {
    return 3;
  }
  // What the failed one had taken is free again.
  return save(3, 100'000) ? 0 : 4;
}

// The same: what is mounted in a folder keeps it from being removed.
int OverWhatCannotBeRemoved(const std::string& place) {
  auto store = CheckpointStore::Open({.directory = place}).value();
  const std::string step = place + "/step-0000000001";
  const auto save = [&] { return store.Save(1, {}, {}); };
  if (!save() || mkdir((step + "/busy").c_str(), 0777) != 0) {
    return 1;
  }
  if (!MountSmallDisk(step + "/busy")) {
    return kNotPossible;
  }
  if (!save() || !fs::exists(place + "/.tmp-step-0000000001.before")) {
    return 2;
  }
  const auto left = store.LoadNewest();
  if (!left || !left->checkpoint) {
    return 3;
  }
  { const auto closed = std::move(store); }
  return CheckpointStore::Open({.directory = place}) ? 0 : 4;
}

// The exit code of `play` in a child; nullopt: it may not do what it needs.
std::optional<int> InAChild(int (*play)(const std::string&),
                            const std::string& place) {
  fs::create_directories(place);
  const pid_t child = fork();
  if (child == 0) {
    std::_Exit(play(place));
  }
  int status = -1;
  waitpid(child, &status, 0);
  const bool skipped = WIFEXITED(status) && WEXITSTATUS(status) == kNotPossible;
  return skipped ? std::nullopt : std::optional(status);
}

TEST_F(CheckpointStoreTest, AFullDiskIsNamedAndHarmsNothing) {
  const auto status = InAChild(OnASmallDisk, directory_);
  if (!status) {
    GTEST_SKIP() << "this process may not mount a file system";
  }
  EXPECT_EQ(*status, 0) << "exit status " << WEXITSTATUS(*status);
}

TEST_F(CheckpointStoreTest, SavesOverOneThatCannotBeRemoved) {
  const auto status = InAChild(OverWhatCannotBeRemoved, directory_);
  if (!status) {
    GTEST_SKIP() << "this process may not mount a file system";
  }
  EXPECT_EQ(*status, 0) << "exit status " << WEXITSTATUS(*status);
}

}  // namespace
}  // namespace muster

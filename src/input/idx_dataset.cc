// SPDX-License-Identifier: Apache-2.0
// Part of muster/dataset.h: a data set of IDX files.
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "input/convert.h"
#include "input/idx.h"
#include "muster/dataset.h"
#include "sys/file/fs.h"

namespace muster {
namespace {

// Larger files are not for a dataset that is held in memory.
constexpr std::size_t kMaxBytes = std::size_t{1} << 36;

Result<IdxArray> ReadIdx(const std::string& path, int dimensions) {
  MUSTER_ASSIGN(std::string bytes, sys::RealFs().Read(path, kMaxBytes));
  return ParseIdx(std::move(bytes), dimensions, path);
}

// The file as published or with .gz; the published name when there is neither.
std::string FindFile(const std::string& directory, std::string_view name) {
  const sys::RealFs fs;
  const std::string plain = sys::JoinPath(directory, name);
  return !fs.Exists(plain) && fs.Exists(plain + ".gz") ? plain + ".gz" : plain;
}

Status CheckLabels(const IdxArray& labels, int classes,
                   const std::string& path) {
  for (std::size_t i = 0; i < labels.bytes.size(); ++i) {
    const auto label = static_cast<std::uint8_t>(labels.bytes[i]);
    if (label >= classes) {
      return Error(Cause::kFileCorrupt,
                   "`" + path + "` has label " + std::to_string(label) +
                       " at sample " + std::to_string(i) + ", but there are " +
                       std::to_string(classes) + " classes");
    }
  }
  return Ok();
}

}  // namespace

std::size_t ElementsOf(const Dataset& dataset) {
  std::size_t elements = 1;
  for (const std::int64_t dimension : dataset.sample_shape()) {
    elements *= static_cast<std::size_t>(dimension);
  }
  return elements;
}

Result<IdxDataset> IdxDataset::Open(const std::string& images_path,
                                    const std::string& labels_path,
                                    int classes) {
  // The small file first: what is wrong is known sooner.
  MUSTER_ASSIGN(IdxArray labels, ReadIdx(labels_path, 1));
  MUSTER_TRY(CheckLabels(labels, classes, labels_path));
  MUSTER_ASSIGN(IdxArray images, ReadIdx(images_path, 3));
  if (images.shape[0] != labels.shape[0]) {
    return Error(Cause::kFileCorrupt,
                 "`" + images_path + "` has " +
                     std::to_string(images.shape[0]) + " images, `" +
                     labels_path + "` has " + std::to_string(labels.shape[0]) +
                     " labels");
  }
  IdxDataset dataset;
  dataset.shape_ = {1, images.shape[1], images.shape[2]};
  dataset.pixels_ = std::size_t{images.shape[1]} * images.shape[2];
  dataset.bytes_ = std::move(images.bytes);
  dataset.labels_.assign(labels.bytes.begin(), labels.bytes.end());
  dataset.classes_ = classes;
  return dataset;
}

std::span<const std::uint8_t> IdxDataset::Pixels(std::uint64_t index) const {
  MUSTER_CHECK(index < size());
  return {
      reinterpret_cast<const std::uint8_t*>(bytes_.data()) + index * pixels_,
      pixels_};
}

Status IdxDataset::Fill(std::span<const std::uint64_t> indices,
                        std::span<float> features,
                        std::span<std::int64_t> labels) const {
  MUSTER_CHECK(features.size() == indices.size() * pixels_ &&
               labels.size() == indices.size());
  const auto out_of_range =
      std::find_if(indices.begin(), indices.end(),
                   [&](std::uint64_t index) { return index >= size(); });
  if (out_of_range != indices.end()) {
    return Error(Cause::kUsageInvalid,
                 "sample " + std::to_string(*out_of_range) + " of " +
                     std::to_string(size()) + " was requested");
  }
  constexpr std::size_t kLine = 64;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (i + 1 < indices.size()) {
      // A shuffled sample is rarely in the cache.
      const auto next = Pixels(indices[i + 1]);
      for (std::size_t at = 0; at < next.size(); at += kLine) {
        __builtin_prefetch(next.data() + at);
      }
    }
    BytesToUnit(Pixels(indices[i]).data(), pixels_,
                features.data() + i * pixels_);
    labels[i] = labels_[indices[i]];
  }
  return Ok();
}

Result<IdxDataset> FashionMnist::Open(const std::string& directory,
                                      enum Split split) {
  const std::string which = split == Split::kTrain ? "train" : "t10k";
  auto dataset =
      IdxDataset::Open(FindFile(directory, which + "-images-idx3-ubyte"),
                       FindFile(directory, which + "-labels-idx1-ubyte"), 10);
  if (!dataset && dataset.error().cause() == Cause::kFileMissing) {
    return std::move(dataset).error().While(
        "opening Fashion-MNIST in `" + directory +
        "`; the Debian package dataset-fashion-mnist installs it in `" +
        kDebianDirectory + "`");
  }
  return dataset;
}

}  // namespace muster

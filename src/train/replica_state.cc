// SPDX-License-Identifier: Apache-2.0
#include "train/replica_state.h"

#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "base/json.h"

namespace muster {
namespace {

// The rank that loads, writes and is followed.
constexpr int kChief = 0;

// Types were checked when the state was made.
DType Known(const NamedTensor& named) {
  return *DTypeOf(named);
}

// First place at which another rank's row is not rank 0's.
struct Difference {
  int rank = 0;
  std::size_t at = 0;
};
Result<std::optional<Difference>> Compare(const Peers& peers,
                                          std::vector<std::uint64_t> own) {
  auto ranks = static_cast<std::size_t>(peers.group.size());
  std::vector<std::uint64_t> all(own.size() * ranks);
  MUSTER_TRY(AllGather(
      peers.group,
      {.data = own.data(), .count = own.size(), .dtype = DType::kInt64},
      {.data = all.data(), .count = all.size(), .dtype = DType::kInt64},
      peers.deadline, peers.stop));
  for (std::size_t at = 0; at < own.size(); ++at) {
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      if (all[rank * own.size() + at] != all[at]) {
        return std::optional(
            Difference{.rank = static_cast<int>(rank), .at = at});
      }
    }
  }
  return std::optional<Difference>();
}

Error Diverged(const Collective& group, const Difference& difference,
               const std::string& tensor, const std::string& what) {
  std::string rank = std::to_string(difference.rank);
  return Error(Cause::kReplicaDivergence,
               "`" + tensor + "` of rank " + rank + " " + what)
      .With({.name = "replica.differs",
             .fields = {{"tensor", tensor},
                        {"rank", std::int64_t{difference.rank}}},
             .subject = "rank " + rank,
             .by = "rank " + std::to_string(group.rank())});
}

Status BroadcastTensor(const Peers& peers, const torch::Tensor& tensor,
                       DType dtype) {
  if (tensor.numel() == 0) {
    return Ok();
  }
  torch::Tensor flat = RowMajor(tensor);
  MUSTER_TRY(Broadcast(peers.group, BufferOf(flat, dtype), kChief,
                       peers.deadline, peers.stop));
  if (flat.data_ptr() != tensor.data_ptr()) {
    torch::NoGradGuard no_grad;
    tensor.detach().copy_(flat);
  }
  return Ok();
}

// Text of rank 0 on every rank.
Status BroadcastText(const Peers& peers, std::string& text) {
  auto size = static_cast<std::int64_t>(text.size());
  MUSTER_TRY(Broadcast(peers.group,
                       {.data = &size, .count = 1, .dtype = DType::kInt64},
                       kChief, peers.deadline, peers.stop));
  text.resize(static_cast<std::size_t>(size));
  return Broadcast(
      peers.group,
      {.data = text.data(), .count = text.size(), .dtype = DType::kUInt8},
      kChief, peers.deadline, peers.stop);
}

// ---- What rank 0 tells the others about its checkpoint ----

Json ToJson(const TensorSpec& spec) {
  return {{"name", spec.name},
          {"dtype", ToString(spec.dtype)},
          {"shape", spec.shape}};
}

struct Announcement {
  std::optional<Error> error;
  Progress progress;
  std::vector<TensorSpec> optimizer;
};

std::string ToString(const Announcement& news) {
  Json json;
  if (news.error) {
    json["cause"] = Label(news.error->cause());
    json["message"] = news.error->message();
    return Dump(json);
  }
  json["step"] = news.progress.step;
  json["words"] = news.progress.words;
  json["optimizer"] = Json::array();
  for (const TensorSpec& spec : news.optimizer) {
    json["optimizer"].push_back(ToJson(spec));
  }
  return Dump(json);
}

Announcement ReadAnnouncement(const Json& json) {
  Announcement news;
  if (json.contains("cause")) {
    auto cause = CauseFromLabel(json["cause"].get<std::string>());
    news.error = Error(cause.value_or(Cause::kInternalError),
                       json["message"].get<std::string>());
    return news;
  }
  news.progress.step = json["step"].get<std::uint64_t>();
  for (const auto& [name, value] : json["words"].items()) {
    news.progress.words[name] = value.get<std::string>();
  }
  for (const Json& spec : json["optimizer"]) {
    news.optimizer.push_back(
        {.name = spec["name"].get<std::string>(),
         .dtype = DTypeFromText(spec["dtype"].get<std::string>())
                      .value_or(DType::kFloat32),
         .shape = spec["shape"].get<std::vector<std::int64_t>>()});
  }
  return news;
}

Status Read(const std::string& text, Announcement& news) {
  MUSTER_ASSIGN(Json json, ParseJson(text, Cause::kInternalError,
                                     "the announcement of rank 0"));
  return Catching([&] {
    news = ReadAnnouncement(json);
    return Ok();
  });
}

}  // namespace

Result<ReplicaState> ReplicaState::Make(
    const torch::nn::Module& model, std::optional<OptimizerState> optimizer) {
  ReplicaState state;
  for (const auto& item : model.named_parameters()) {
    state.model_.push_back({item.key(), item.value()});
  }
  state.parameters_ = state.model_.size();
  for (const auto& item : model.named_buffers()) {
    state.model_.push_back({item.key(), item.value()});
  }
  for (const NamedTensor& named : state.model_) {
    MUSTER_TRY(DTypeOf(named));
  }
  state.optimizer_ = std::move(optimizer);
  return state;
}

Status ReplicaState::ProveSameModel(const Peers& peers) const {
  std::vector<std::string> texts;
  texts.reserve(model_.size());
  for (const NamedTensor& named : model_) {
    texts.push_back(named.name + " " + ToString(SpecOf(named, Known(named))));
  }
  MUSTER_ASSIGN(auto counts, Compare(peers, {texts.size()}));
  if (counts) {
    return Diverged(peers.group, *counts, "the model",
                    "has a different number of tensors than on rank 0 (" +
                        std::to_string(texts.size()) + " on rank " +
                        std::to_string(peers.group.rank()) + ")");
  }
  if (texts.empty()) {
    return Ok();
  }
  std::vector<std::uint64_t> digests;
  digests.reserve(texts.size());
  for (const std::string& text : texts) {
    digests.push_back(DigestOf(text));
  }
  MUSTER_ASSIGN(auto different, Compare(peers, std::move(digests)));
  if (different) {
    return Diverged(
        peers.group, *different, model_[different->at].name,
        "has a different name, type or shape than on rank 0 (rank " +
            std::to_string(peers.group.rank()) + " has " +
            texts[different->at] + ")");
  }
  return Ok();
}

Result<Progress> ReplicaState::FollowRankZero(
    const Peers& peers, Result<std::optional<Checkpoint>> found) {
  Announcement news;
  if (!found) {
    news.error = found.error();
  } else if (*found) {
    const Checkpoint& checkpoint = **found;
    Status loaded = Load(checkpoint);
    if (!loaded) {
      news.error = loaded.error();
    }
    news.progress = {.step = checkpoint.step, .words = checkpoint.metadata};
  }
  if (optimizer_ && !news.error) {
    for (const NamedTensor& named : optimizer_->Tensors()) {
      MUSTER_ASSIGN(DType dtype, DTypeOf(named));
      news.optimizer.push_back(SpecOf(named, dtype));
    }
  }
  if (peers.group.size() == 1) {
    return news.error ? Result<Progress>(*news.error) : news.progress;
  }
  std::string text = peers.group.rank() == kChief ? ToString(news) : "";
  MUSTER_TRY(BroadcastText(peers, text));
  MUSTER_TRY(Read(text, news));
  if (news.error) {
    return *news.error;
  }
  for (const NamedTensor& named : model_) {
    MUSTER_TRY(BroadcastTensor(peers, named.tensor, Known(named)));
  }
  if (optimizer_) {
    if (peers.group.rank() != kChief) {
      MUSTER_TRY(optimizer_->Expect(news.optimizer));
      optimizer_->PutWords(news.progress.words, false);
    }
    std::vector<NamedTensor> tensors = optimizer_->Tensors();
    for (const NamedTensor& named : tensors) {
      MUSTER_ASSIGN(DType dtype, DTypeOf(named));
      MUSTER_TRY(BroadcastTensor(peers, named.tensor, dtype));
    }
    optimizer_->Put(tensors);
  }
  return news.progress;
}

Status ReplicaState::ProveEqual(const Peers& peers) const {
  std::vector<std::uint64_t> digests;
  digests.reserve(model_.size());
  for (const NamedTensor& named : model_) {
    digests.push_back(DigestOf(named.tensor));
  }
  if (digests.empty() || peers.group.size() == 1) {
    return Ok();
  }
  MUSTER_ASSIGN(auto different, Compare(peers, std::move(digests)));
  if (different) {
    return Diverged(peers.group, *different, model_[different->at].name,
                    "differs from rank 0");
  }
  return Ok();
}

std::uint64_t ReplicaState::ParameterDigest() const {
  std::uint64_t digest = 0;
  for (std::size_t i = 0; i < parameters_; ++i) {
    digest = digest * 31 + DigestOf(model_[i].tensor);
  }
  return digest;
}

Status ReplicaState::BroadcastBuffers(const Peers& peers) {
  if (peers.group.size() == 1) {
    return Ok();
  }
  for (std::size_t i = parameters_; i < model_.size(); ++i) {
    MUSTER_TRY(BroadcastTensor(peers, model_[i].tensor, Known(model_[i])));
  }
  return Ok();
}

Status ReplicaState::Save(const Peers& peers, CheckpointStore* store,
                          const Progress& progress) const {
  Announcement news;
  if (store != nullptr) {
    if (Status status = Write(*store, progress); !status) {
      news.error = std::move(status).error();
    }
  }
  if (peers.group.size() > 1) {
    std::string text = store == nullptr ? "" : ToString(news);
    MUSTER_TRY(BroadcastText(peers, text));
    MUSTER_TRY(Read(text, news));
  }
  return news.error ? Status(*news.error) : Ok();
}

Status ReplicaState::Write(CheckpointStore& store,
                           const Progress& progress) const {
  std::vector<NamedTensor> tensors = model_;
  std::map<std::string, std::string> words = progress.words;
  if (optimizer_) {
    std::vector<NamedTensor> memory = optimizer_->Tensors();
    tensors.insert(tensors.end(), memory.begin(), memory.end());
    words.merge(optimizer_->Words());
  }
  std::vector<TensorView> views;
  views.reserve(tensors.size());
  for (NamedTensor& named : tensors) {
    MUSTER_ASSIGN(DType dtype, DTypeOf(named));
    named.tensor = RowMajor(named.tensor);
    views.push_back({.spec = SpecOf(named, dtype),
                     .bytes = std::span(
                         static_cast<const std::byte*>(named.tensor.data_ptr()),
                         named.tensor.nbytes())});
  }
  return store.Save(progress.step, views, words);
}

Status ReplicaState::Load(const Checkpoint& checkpoint) {
  auto kind = checkpoint.metadata.find("optimizer");
  std::string_view ours = optimizer_ ? optimizer_->kind() : "none";
  if (kind != checkpoint.metadata.end() && kind->second != ours) {
    return Error(Cause::kCkptMismatch,
                 "`" + checkpoint.path + "` was trained with " + kind->second +
                     ", but the program trains with " + std::string(ours));
  }
  std::vector<TensorSpec> expected;
  for (const NamedTensor& named : model_) {
    expected.push_back(SpecOf(named, Known(named)));
  }
  std::vector<NamedTensor> tensors = model_;
  if (optimizer_) {
    MUSTER_TRY(optimizer_->Expect(checkpoint.specs));
    for (NamedTensor& named : optimizer_->Tensors()) {
      MUSTER_ASSIGN(DType dtype, DTypeOf(named));
      expected.push_back(SpecOf(named, dtype));
      tensors.push_back(std::move(named));
    }
  }
  MUSTER_TRY(CheckMatches(checkpoint, expected));
  torch::NoGradGuard no_grad;
  for (const NamedTensor& named : tensors) {
    auto bytes = checkpoint.Find(named.name);
    MUSTER_CHECK(bytes && bytes->size() == named.tensor.nbytes());
    torch::Tensor row_major = torch::empty(
        named.tensor.sizes(), named.tensor.options().requires_grad(false));
    std::memcpy(row_major.data_ptr(), bytes->data(), bytes->size());
    named.tensor.detach().copy_(row_major);
  }
  if (optimizer_) {
    optimizer_->Put(std::span(tensors).subspan(model_.size()));
    optimizer_->PutWords(checkpoint.metadata, true);
  }
  return Ok();
}

}  // namespace muster

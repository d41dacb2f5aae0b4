// SPDX-License-Identifier: Apache-2.0
#include "wire/mesh_frame.h"

#include "base/text.h"
#include "wire/frame.h"

namespace muster::wire {
namespace {

constexpr std::string_view kMagic = "MUSF";

void PutNumber(std::string& bytes, std::uint64_t number, int size) {
  for (int shift = (size - 1) * 8; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>((number >> shift) & 0xFF));
  }
}

// What of a frame is signed.
struct Signed {
  std::string_view salt;
  bool dialler = false;
  std::uint64_t number = 0;
  std::uint8_t kind = 0;
  std::string_view body;
};

std::string Sign(const Signer& signer, const Signed& what) {
  std::string message;
  message.reserve(what.salt.size() + what.body.size() + 32);
  PutNumber(message, what.salt.size(), 4);
  message += what.salt;
  message.push_back(what.dialler ? 'D' : 'L');
  PutNumber(message, what.number, 8);
  message.push_back(static_cast<char>(what.kind));
  PutNumber(message, what.body.size(), 4);
  if (what.kind != static_cast<std::uint8_t>(FrameKind::kLarge)) {
    message += what.body;
  }
  return signer(message);
}

// In a time that does not depend on where they differ.
bool Same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) {
    return false;
  }
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^
                                        static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

Error NoFrame(const std::string& why) {
  return Error(Cause::kNetWrongEndpoint, why);
}

}  // namespace

Signer PlainSigner() {
  return [](std::string_view message) {
    const std::string digest = Digest(message);
    return digest + digest;
  };
}

std::string FrameWriter::Write(const Frame& frame) {
  const auto kind = static_cast<std::uint8_t>(frame.kind);
  std::string bytes(kMagic);
  bytes += FrameBuilder(kind, frame.body.size()).Raw(frame.body).Finish();
  bytes += Sign(signer_, {.salt = salt_,
                          .dialler = dialler_,
                          .number = number_++,
                          .kind = kind,
                          .body = frame.body});
  return bytes;
}

Result<std::optional<Frame>> FrameReader::Take() {
  const auto known = buffer_.substr(0, kMagic.size());
  if (known != kMagic.substr(0, known.size())) {
    return NoFrame("received data that is not a mesh frame");
  }
  if (buffer_.size() < kMagic.size()) {
    return std::optional<Frame>();
  }
  const std::string_view framed =
      std::string_view(buffer_).substr(kMagic.size());
  const bool unknown = dialler_ && number_ == 0;
  const auto inner =
      PeekFrame(framed, {.most = (unknown ? kMaxHelloBody : kMaxBody) + 1});
  if (!inner) {
    return NoFrame(inner.error().message());
  }
  const auto& view = *inner;
  if (!view || framed.size() < view->size + kSignatureSize) {
    return std::optional<Frame>();
  }
  Frame frame{.kind = static_cast<FrameKind>(view->kind),
              .body = std::string(view->body)};
  const std::string signature = Sign(signer_, {.salt = salt_,
                                               .dialler = dialler_,
                                               .number = number_++,
                                               .kind = view->kind,
                                               .body = frame.body});
  if (!Same(signature, framed.substr(view->size, kSignatureSize))) {
    bad_signature_ = true;
    return NoFrame("a frame is not signed with the key of this run");
  }
  buffer_.erase(0, kMagic.size() + view->size + kSignatureSize);
  return std::optional(std::move(frame));
}

}  // namespace muster::wire

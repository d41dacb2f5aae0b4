// SPDX-License-Identifier: Apache-2.0
// The secret that the members of a run share, and the keys that are made of it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "muster/error.h"
#include "wire/mesh_frame.h"

namespace muster::channel {

// 32 bytes that only members of the run know. Never logged, never sent but by
// ToHex over a channel that is already authenticated. A value; any thread.
//
//   MUSTER_ASSIGN(const RunKey token, ReadTokenFile(path));
//   const RunKey mesh = token.Derive("muster mesh frame v1", run_id);
//   frame += mesh.Sign(frame);  …  if (!mesh.Verifies(frame, mac)) { refuse }
class RunKey {
 public:
  static constexpr std::size_t kSize = 32;
  using Bytes = std::array<std::uint8_t, kSize>;

  // Of the text of a token, without white space at its ends: HKDF-Extract with
  // SHA-256. usage-invalid: fewer than 16 bytes.
  static Result<RunKey> FromToken(std::string_view token);
  // The next key of the kernel's random numbers; internal-error: it has none.
  static Result<RunKey> Random();
  static Result<RunKey> FromHex(std::string_view hex);  // net-wrong-endpoint
  std::string ToHex() const;

  RunKey(const RunKey&) = default;
  RunKey& operator=(const RunKey&) = default;
  ~RunKey();  // overwrites it

  // Another key for one purpose ("muster mesh frame v1") in one context (a run
  // id): HKDF-Expand. Nothing about this key or about those for other purposes
  // follows from it.
  RunKey Derive(std::string_view purpose, std::string_view context = {}) const;

  // HMAC-SHA256.
  Bytes Sign(std::string_view message) const;
  // In a time that does not depend on where the two differ.
  bool Verifies(std::string_view message,
                std::span<const std::uint8_t> mac) const;

  const Bytes& bytes() const { return bytes_; }

 private:
  explicit RunKey(const Bytes& bytes) : bytes_(bytes) {}

  Bytes bytes_{};
};

// Signs frames of the mesh for members that share the token of a run.
wire::Signer TokenSigner(const RunKey& token);

// The key of a token file (sys/private_file.h says who may own it and which
// mode it must have): file-missing, file-permission, file-corrupt (larger than
// 4 KiB), usage-invalid (too short), with the name of the file.
Result<RunKey> ReadTokenFile(const std::string& path);

}  // namespace muster::channel

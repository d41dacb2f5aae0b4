// SPDX-License-Identifier: Apache-2.0
// Frames of the mesh, as whoever dials may send them: what is taken off a
// stream writes itself as the bytes it was. The signature is of the frame
// alone, so that bytes which no key has signed are read as well.
#include <string>

#include "tests/fuzz/fuzz.h"
#include "wire/mesh_frame.h"

namespace {

std::string AnyKey(std::string_view) {
  return std::string(muster::wire::kSignatureSize, 's');
}

}  // namespace

void Fuzz(const std::string& bytes) {
  muster::wire::FrameReader reader(AnyKey, true);
  muster::wire::FrameWriter writer(AnyKey, true);
  reader.buffer() = bytes;
  std::string again;
  for (;;) {
    const auto frame = reader.Take();
    if (!frame || !*frame) {
      break;
    }
    again += writer.Write(**frame);
    MUSTER_CHECK(again + reader.buffer() == bytes);
  }
}

// Chunk files: RIFF WAVE (and RF64, EBU Tech 3306), AIFF and AIFF-C.
#include "describe/sound/length.h"
#include "sniff/fields.h"

namespace sluice::sound {
namespace {

/// The first chunk of files that begin `FORM size:4 type:4`.
constexpr uint64_t kFirstChunk = 12;

constexpr uint64_t behind(uint64_t at, uint64_t size) {
  return at + 8 + size + (size & 1);
}

}  // namespace

// Chunks of tag:4 size:4 content. `fmt ` has the bytes a second at 8, `ds64` the size of the data
// at 8, where the 32 bits that `data` has do not suffice.
Length wav_length(const Glimpse& file) {
  constexpr uint64_t kLarge = 0xffff'ffff;
  const Bytes head = file.head;
  if (!stands(head, 8, "WAVE")) return {};
  uint64_t rate = 0;
  uint64_t large = file.size;
  for (uint64_t at = kFirstChunk; holds(head, at, 8);) {
    const uint64_t size = le32(head, at + 4);
    if (stands(head, at, "ds64")) large = le(head, at + 16, 8);
    if (stands(head, at, "fmt ")) rate = le32(head, at + 16);
    if (stands(head, at, "data")) {
      const uint64_t stated = size == kLarge ? large : size;
      return {std::min(stated, file.size - std::min(at + 8, file.size)), rate};
    }
    at = behind(at, size);
  }
  return {};
}

// `COMM` has channels:2 frames:4 bits:2 rate:10, the rate as an extended float: exponent:2 (with a
// bias of 16383) mantissa:8.
Length aiff_length(const Glimpse& file) {
  constexpr uint32_t kUnit = 16383 + 63;
  const Bytes head = file.head;
  if (!stands(head, 0, "FORM") || !stands(head, 8, "AIF")) return {};
  for (uint64_t at = kFirstChunk; holds(head, at, 8); at = behind(at, be32(head, at + 4))) {
    if (!stands(head, at, "COMM")) continue;
    const uint32_t shift = kUnit - be16(head, at + 16);
    return {be32(head, at + 10), shift < 64 ? be(head, at + 18, 8) >> shift : 0};
  }
  return {};
}

}  // namespace sluice::sound

// Sound in frames: FLAC and MP3, each perhaps behind an ID3v2 tag.
#include "describe/sound/length.h"
#include "sniff/fields.h"
#include "sniff/mpeg.h"

namespace sluice::sound {
namespace {

/// Frames that have to agree before their rate is taken for that of all; fewer if no more are seen.
constexpr int kAgreeing = 8;

/// The number of frames that the encoder left in a first frame that is silent; 0 when it did not.
///
///   Xing (or Info) flags:4, bit 0: [frames:4] …     at 13, 21 or 36, by version and channels
///   VBRI version:2 delay:2 quality:2 bytes:4 frames:4            at 36
uint64_t stated_frames(Bytes head, uint64_t frame) {
  for (const uint64_t place : {13u, 21u, 36u}) {
    const uint64_t at = frame + place;
    const bool tagged = stands(head, at, "Xing") || stands(head, at, "Info");
    if (tagged && (be32(head, at + 4) & 1) != 0) return be32(head, at + 8);
    if (stands(head, at, "VBRI")) return be32(head, at + 14);
  }
  return 0;
}

}  // namespace

// RFC 9639 §8.2: fLaC, then STREAMINFO: header:4 blocks:4 frames:6, then bits: rate:20 channels:3
// depth:5 samples:36.
Length flac_length(const Glimpse& file) {
  const size_t begin = sniffing::id3_end(file.head);
  if (!stands(file.head, begin, "fLaC")) return {};
  const uint64_t bits = be(file.head, begin + 18, 8);
  return {bits & 0xf'ffff'ffff, bits >> 44};
}

Length mp3_length(const Glimpse& file) {
  const size_t begin = sniffing::id3_end(file.head);
  const auto first = sniffing::layer_3_frame(file.head, begin);
  if (!first) return {};
  if (const uint64_t frames = stated_frames(file.head, begin); frames > 0) {
    return {frames * first->samples, first->hertz};
  }
  size_t at = begin + first->size;
  for (int i = 1; i < kAgreeing && holds(file.head, at, 4); ++i) {
    const auto next = sniffing::layer_3_frame(file.head, at);
    if (!next || next->kbits != first->kbits) return {};
    at += next->size;
  }
  return {file.size - begin, uint64_t{first->kbits} * 125};
}

}  // namespace sluice::sound

// Ogg (RFC 3533 §6) with Vorbis, Opus (RFC 7845) or Speex.
#include "describe/sound/length.h"
#include "sniff/fields.h"

namespace sluice::sound {

//   0    4       5     6       14     18       22  26       27
//   OggS version flags granule serial sequence crc segments <lengths> <data>
//
// The last page's granule is the number of samples so far; all ones where no packet ends on it.
Length ogg_length(const Glimpse& file) {
  constexpr uint32_t kOpusRate = 48'000;
  if (!stands(file.head, 0, "OggS")) return {};
  const uint64_t data = 27 + u8(file.head, 26);
  uint64_t rate = 0;
  uint64_t before = 0;  // samples to be dropped
  if (stands(file.head, data, "\x01vorbis")) rate = le32(file.head, data + 12);
  if (stands(file.head, data, "Speex   ")) rate = le32(file.head, data + 36);
  if (stands(file.head, data, "OpusHead")) {
    rate = kOpusRate;
    before = le16(file.head, data + 10);
  }
  const std::string_view text = as_text(file.tail);
  for (size_t at = text.size(); (at = text.rfind("OggS", at)) != text.npos && at > 0; --at) {
    const uint64_t granule = le(file.tail, at + 6, 8);
    const bool ours = le32(file.tail, at + 14) == le32(file.head, 14);
    if (ours && granule <= INT64_MAX) return {granule - std::min(before, granule), rate};
  }
  return {};
}

}  // namespace sluice::sound

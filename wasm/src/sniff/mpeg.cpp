// MPEG audio and streams. Their sync words are short, so headers are validated, and only a second
// header where the first says it must be makes a match certain.
#include "sniff/mpeg.h"

#include <algorithm>

#include "sniff/recognisers.h"

namespace sluice::sniffing {

/// MPEG-1, -2 and -2.5 Layer III (ISO/IEC 11172-3 §2.4.2.3, 13818-3 §2.4.2.3):
///
///   11111111 111VV LLp BBBB SS P x  mm xx xx ee
///            └sync┘ │ │   │    │  │         └ emphasis, 2 is reserved
///             version layer │ rate padding
///                         bitrate
std::optional<Frame> layer_3_frame(Bytes bytes, size_t at) {
  constexpr uint16_t kKbits1[] = {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320};
  constexpr uint16_t kKbits2[] = {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160};
  constexpr uint16_t kRates[] = {44'100, 48'000, 32'000};
  if (!holds(bytes, at, 4)) return std::nullopt;
  const uint32_t header = be32(bytes, at);
  const uint32_t version = header >> 19 & 3;  // 3: MPEG-1, 2: MPEG-2, 0: MPEG-2.5
  const uint32_t layer = header >> 17 & 3;    // 1: Layer III
  const uint32_t bitrate = header >> 12 & 15;
  const uint32_t rate = header >> 10 & 3;
  if (header >> 21 != 0x7FF || version == 1 || layer != 1) return std::nullopt;
  if (bitrate == 0 || bitrate == 15 || rate == 3 || (header & 3) == 2) return std::nullopt;

  const uint32_t kbits = version == 3 ? kKbits1[bitrate] : kKbits2[bitrate];
  const uint32_t hertz = uint32_t{kRates[rate]} >> (version == 3 ? 0 : version == 2 ? 1 : 2);
  const uint32_t samples = version == 3 ? 1152 : 576;
  const size_t size = samples / 8 * kbits * 1000 / hertz + (header >> 9 & 1);
  return Frame{size, header & 0xFFFE0C00, kbits, hertz, samples};
}

//   0   3       4        5     6 (four bytes of seven bits)   10
//   ID3 version revision flags size                           frames …
size_t id3_end(Bytes head) {
  if (!stands(head, 0, "ID3") || !holds(head, 0, 10)) return 0;
  const bool version = head[3] >= 2 && head[3] <= 4 && head[4] != 0xFF;
  const bool size_bits = ((head[6] | head[7] | head[8] | head[9]) & 0x80) == 0;
  if (!version || (head[5] & 0x0F) != 0 || !size_bits) return 0;
  const size_t size =
      size_t{head[6]} << 21 | size_t{head[7]} << 14 | size_t{head[8]} << 7 | head[9];
  return 10 + size + ((head[5] & 0x10) ? 10 : 0);
}

namespace {

/// ADTS (ISO/IEC 13818-7 §6.2):
///
///   11111111 1111 v 00 p  PPrrrrxC CCxxxxLL LLLLLLLL LLLxxxxx
///                            rate │channels└─ frame length ┘
std::optional<Frame> adts_frame(Bytes head, size_t at) {
  if (!holds(head, at, 7)) return std::nullopt;
  const uint32_t header = be32(head, at);
  if ((header & 0xFFF60000) != 0xFFF00000) return std::nullopt;
  const uint32_t rate = header >> 10 & 15;
  const uint32_t channels = header >> 6 & 7;
  const size_t size = (header & 3) << 11 | be16(head, at + 4) >> 5;
  if (rate > 12 || channels == 0 || size < 16) return std::nullopt;
  return Frame{size, header & 0xFFFFFDC0, 0, 0, 0};
}

/// Encoders write their own tag in the first frame: at a fixed place for the Xing header (its place
/// depends on version and channels) and VBRI.
bool has_encoder_tag(Bytes head) {
  constexpr size_t kPlaces[] = {13, 21, 36};
  return std::any_of(std::begin(kPlaces), std::end(kPlaces), [head](size_t at) {
    return stands(head, at, "Xing") || stands(head, at, "Info") || stands(head, at, "VBRI");
  });
}

using FrameReader = std::optional<Frame> (*)(Bytes head, size_t at);

/// A stream of frames at the start of `head`: nothing when a visible second header contradicts the
/// first; certain when it agrees.
std::optional<Match> stream_of(Bytes head, FrameReader read, Kind kind) {
  const auto first = read(head, 0);
  if (!first) return std::nullopt;
  if (!holds(head, first->size, 7)) return Match{kind, false};
  const auto second = read(head, first->size);
  if (!second || second->fixed != first->fixed) return std::nullopt;
  return Match{kind};
}

}  // namespace

std::optional<Match> mpeg_frames(Bytes head) {
  if (const auto aac = stream_of(head, adts_frame, Kind::aac)) return aac;
  auto mp3 = stream_of(head, layer_3_frame, Kind::mp3);
  if (mp3 && has_encoder_tag(head)) mp3->certain = true;
  return mp3;
}

std::optional<Match> id3(Bytes head) {
  const size_t behind = id3_end(head);
  if (behind == 0) return std::nullopt;
  // The tag may stand before other sound than MP3.
  if (stands(head, behind, "fLaC")) return Match{Kind::flac};
  if (adts_frame(head, behind)) return Match{Kind::aac};
  return Match{Kind::mp3};
}

//   00 00 01 BA 01xxx1xx …   MPEG-2     (ISO/IEC 13818-1 §2.5.3.4)
//   00 00 01 BA 0010xxx1 …   MPEG-1     (ISO/IEC 11172-1 §2.4.3.2)
// Both have marker bits in the five bytes of the clock that follow.
std::optional<Match> program_stream(Bytes head) {
  if (!holds(head, 0, 12)) return std::nullopt;
  const bool mpeg_2 = (head[4] & 0xC4) == 0x44 && (head[6] & 4) && (head[8] & 4) && (head[9] & 1);
  const bool mpeg_1 = (head[4] & 0xF1) == 0x21 && (head[6] & 1) && (head[8] & 1);
  if (!mpeg_2 && !mpeg_1) return std::nullopt;
  return Match{Kind::mpeg_ps};
}

//   packets of 188 bytes: 0x47, no transport error, some payload or adaptation field
std::optional<Match> transport_stream(Bytes head) {
  constexpr size_t kPacket = 188;
  size_t packets = 0;
  for (size_t at = 0; holds(head, at, 4); at += kPacket, ++packets) {
    const bool sane = head[at] == 0x47 && (head[at + 1] & 0x80) == 0 && (head[at + 3] & 0x30) != 0;
    if (!sane) return std::nullopt;
  }
  if (packets < 3) return std::nullopt;
  return Match{Kind::mpeg_ts};
}

}  // namespace sluice::sniffing

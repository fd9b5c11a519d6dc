// What an Ogg file carries: each of its first pages opens one stream (RFC 3533 §6, RFC 5334).
#include "sniff/recognisers.h"

namespace sluice::sniffing {
namespace {

using namespace std::string_view_literals;

constexpr uint8_t kBeginsStream = 2;

struct Codec {
  std::string_view identification;
  Kind kind;
};

constexpr Codec kCodecs[] = {
    {"\x01vorbis", Kind::ogg},
    {"OpusHead", Kind::opus},
    {"\x7F"
     "FLAC",
     Kind::ogg},
    {"Speex   ", Kind::ogg},
    {"\x80theora"sv, Kind::ogv},
    {"BBCD\0"sv, Kind::ogv},
    {"\x01video\0"sv, Kind::ogv},
};

std::optional<Kind> codec_at(Bytes head, size_t at) {
  for (const Codec& codec : kCodecs) {
    if (stands(head, at, codec.identification)) return codec.kind;
  }
  return std::nullopt;
}

}  // namespace

//   0    4       5     6       14     18       22  26       27
//   OggS version flags granule serial sequence crc segments <lengths> <data>
std::optional<Match> ogg(Bytes head) {
  std::optional<Kind> sound;
  size_t at = 0;
  while (stands(head, at, "OggS\0"sv) && holds(head, at, 27) && (head[at + 5] & kBeginsStream)) {
    const size_t segments = head[at + 26];
    if (!holds(head, at + 27, segments)) break;
    const size_t data = at + 27 + segments;
    const auto kind = codec_at(head, data);
    if (kind == Kind::ogv) return Match{Kind::ogv};
    if (kind && !sound) sound = kind;
    at = data;
    for (size_t i = 0; i < segments; ++i) at += head[data - segments + i];
  }
  return Match{sound.value_or(Kind::ogx)};
}

}  // namespace sluice::sniffing

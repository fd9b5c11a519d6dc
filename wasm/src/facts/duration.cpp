// How long sound or a moving picture lasts. One reader for each family (RIFF WAVE and RF64 (EBU
// Tech 3306), AIFF and AIFF-C, FLAC and MP3, Ogg (RFC 3533 §6) with Vorbis, Opus (RFC 7845) or
// Speex, ISO base media files and QuickTime); each looks at its own signature first, and returns
// nothing if the length cannot be seen.
#include <cstdint>
#include <string>

#include "facts/kinds.h"
#include "sniff/structure.h"

namespace sluice {

namespace {

/// `units` at `rate` units a second; unknown when either is 0.
struct Length {
  uint64_t units = 0;
  uint64_t rate = 0;
};

/// The first chunk of files that begin `FORM size:4 type:4`.
constexpr uint64_t kFirstChunk = 12;

constexpr uint64_t behind(uint64_t at, uint64_t size) {
  return at + 8 + size + (size & 1);
}

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

// WavPack 4: wvpk size:4 version:2 … samples:4 (at 12) … flags:4 (at 24), of which four bits from
// the 24th on choose the rate.
Length wavpack_length(const Glimpse& file) {
  static constexpr uint32_t kRates[] = {6'000,  8'000,  9'600,  11'025, 12'000,
                                        16'000, 22'050, 24'000, 32'000, 44'100,
                                        48'000, 64'000, 88'200, 96'000, 192'000};
  constexpr uint32_t kUnknown = 0xffff'ffff;
  const uint32_t rate = le32(file.head, 24) >> 23 & 15;
  const uint32_t samples = le32(file.head, 12);
  if (!stands(file.head, 0, "wvpk") || samples == kUnknown || rate == 15) return {};
  return {samples, kRates[rate]};
}

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

// ISO/IEC 14496-12 §8.2.2, moov › mvhd: version:1 flags:3 created changed scale:4 duration, where
// all but the scale have four bytes, or eight in version 1. All ones: unknown.
Length mp4_length(const Glimpse& file) {
  const Bytes header = find_box(find_movie(file), "mvhd");
  const bool wide = u8(header, 0) == 1;
  const uint64_t units = wide ? be(header, 24, 8) : be32(header, 16);
  const uint64_t unknown = wide ? UINT64_MAX : UINT32_MAX;
  return {units == unknown ? 0 : units, be32(header, wide ? 20 : 12)};
}

}  // namespace

namespace {

Length length_of(const Glimpse& file) {
  using Reader = Length (*)(const Glimpse&);
  static constexpr Reader kReaders[] = {wavpack_length, wav_length, aiff_length, flac_length,
                                        ogg_length,     mp3_length, mp4_length};
  for (const Reader read : kReaders) {
    const Length length = read(file);
    if (length.units > 0 && length.rate > 0) return length;
  }
  return {};
}

}  // namespace

Bytes find_movie(const Glimpse& file) {
  // A fragmented file has its movie first.
  constexpr int kMostBoxes = 64;
  uint64_t at = 0;
  for (int i = 0; i < kMostBoxes; ++i) {
    const auto box = first_box(file.from(at));
    if (!box) break;
    if (box->type == "moov") return box->content;
    if (box->size == 0 || box->size > file.size - at) break;
    at += box->size;
  }
  return {};
}

void append_media_facts(std::string& line, const Glimpse& file) {
  const Film film = read_film(file);
  if (film.width > 0 && film.height > 0) {
    append_side(line, film.width, true);
    append_side(line, film.height, false);
  }
  const auto [units, rate] = length_of(file);
  append_duration(
      line, rate == 0 ? film.seconds : units / rate + (units % rate >= rate - rate / 2 ? 1 : 0));
  line += film.codecs;
  if (film.rate == 0) return;
  line += ", " + std::to_string(film.rate / 100);
  if (film.rate % 100 != 0) {
    line += '.';
    append_two_digits(line, film.rate % 100);
  }
  line += " fps";
}

}  // namespace sluice

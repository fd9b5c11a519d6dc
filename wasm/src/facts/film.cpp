// Films: their width and height, codecs and frames a second, from the tracks of ISO base media
// files (ISO/IEC 14496-12) and of Matroska (RFC 9559), from the headers of AVI and FLV.
#include <bit>
#include <cstring>

#include "facts/kinds.h"
#include "sniff/structure.h"
#include "sniff/types.h"

namespace sluice {

namespace {

using namespace std::string_view_literals;

constexpr uint64_t divide(uint64_t some, uint64_t by) {
  return (some + by / 2) / by;
}

/// Codecs by how either container calls them.
constexpr std::string_view kCodecs[][2] = {
    {"avc", ", H.264"},   {"AVC", ", H.264"},       {"hev1", ", H.265"}, {"hvc1", ", H.265"},
    {"HEVC", ", H.265"},  {"vp08", ", VP8"},        {"VP8", ", VP8"},    {"vp09", ", VP9"},
    {"VP9", ", VP9"},     {"av01", ", AV1"},        {"AV1", ", AV1"},    {"mp4v", ", MPEG-4"},
    {"apc", ", ProRes"},  {"mp4a", ", AAC"},        {"A_AAC", ", AAC"},  {"Opus", ", Opus"},
    {"A_OPUS", ", Opus"}, {"A_VORBIS", ", Vorbis"}, {"ac-3", ", AC-3"},  {"A_AC3", ", AC-3"},
    {"MPEG/L3", ", MP3"},
};

void add_codec(Film& film, std::string_view name) {
  for (sniffing::Texts texts(sniffing::packed<kCodecs>); !texts.done();) {
    const std::string_view part = texts.next();
    const std::string_view codec = texts.next();
    if (name.find(part) == name.npos) continue;
    if (film.codecs.find(codec) == film.codecs.npos) film.codecs += codec;
    return;
  }
}

// A track is trak: tkhd ends with width:4 height:4, in 65,536ths; mdia › mdhd has the scale of time
// at 12 or 20, minf › stbl › stsd the codec at 12, stts of the first frames count:4 at 8 and
// time:4.
void read_movie(Bytes movie, Film& film) {
  while (const auto box = first_box(movie)) {
    movie = box->rest;
    if (box->type != "trak") continue;
    const Bytes media = find_box(box->content, "mdia");
    const Bytes table = find_box(find_box(media, "minf"), "stbl");
    const Bytes description = find_box(table, "stsd");
    if (holds(description, 12, 4)) add_codec(film, as_text(description.subspan(12, 4)));
    if (!stands(find_box(media, "hdlr"), 8, "vide")) continue;
    const Bytes header = find_box(box->content, "tkhd");
    const uint64_t end = u8(header, 0) == 1 ? 96 : 84;
    film.width = be32(header, end - 8) >> 16;
    film.height = be32(header, end - 4) >> 16;
    const Bytes clock = find_box(media, "mdhd");
    const uint64_t time = be32(find_box(table, "stts"), 12);
    if (time > 0)
      film.rate = divide(uint64_t{be32(clock, u8(clock, 0) == 1 ? 20 : 12)} * 100, time);
  }
}

double read_float(Bytes bytes, uint64_t at, uint64_t width) {
  if (width == 8) return read_double(bytes, at, true);
  const uint32_t bits = be32(bytes, at);
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

/// How many bytes a number of EBML (RFC 8794 §4) has, by its first.
size_t count_bytes(uint32_t lead) {
  return static_cast<size_t>(std::countl_zero(static_cast<uint8_t>(lead))) + 1;
}

enum Element : uint32_t {
  kSegment = 0x1853'8067,
  kInfo = 0x1549'a966,
  kScale = 0x2a'd7b1,
  kDuration = 0x4489,
  kTracks = 0x1654'ae6b,
  kTrack = 0xae,
  kCodec = 0x86,
  kFrameTime = 0x23'e383,
  kVideo = 0xe0,
  kWidth = 0xb0,
  kHeight = 0xba,
  kCluster = 0x1f43'b675,
};

// Elements are an identifier, a size and a content, which of some is elements.
void read_elements(Bytes head, Film& film) {
  double scale = 1e6;
  for (uint64_t at = 0; holds(head, at, 2);) {
    const size_t id_bytes = count_bytes(u8(head, at));
    const uint64_t id = be(head, at, id_bytes);
    at += id_bytes;
    const size_t bytes = count_bytes(u8(head, at));
    if (id_bytes > 4 || bytes > 8 || id == kCluster) return;
    const uint64_t size = be(head, at, bytes) & ((uint64_t{1} << 7 * bytes) - 1);
    at += bytes;
    if (id == kSegment || id == kInfo || id == kTracks || id == kTrack || id == kVideo) continue;
    if (!holds(head, at, size)) return;
    const uint64_t number = size <= 8 ? be(head, at, static_cast<size_t>(size)) : 0;
    if (id == kScale) scale = static_cast<double>(number);
    if (id == kCodec)
      add_codec(film, as_text(head).substr(static_cast<size_t>(at), static_cast<size_t>(size)));
    if (id == kFrameTime && number > 0) film.rate = divide(100'000'000'000, number);
    if (id == kWidth) film.width = number;
    if (id == kHeight) film.height = number;
    if (id == kDuration) {
      const double seconds = read_float(head, at, size) * scale / 1e9;
      if (seconds > 0 && seconds < 1e9) film.seconds = static_cast<uint64_t>(seconds + 0.5);
    }
    at += size;
  }
}

// The header of an AVI stands at 32: time of a frame:4 … at 16 frames:4 … at 32 width:4 height:4.
void read_avi(Bytes head, Film& film) {
  const uint64_t time = le32(head, 32);
  film.width = le32(head, 64);
  film.height = le32(head, 68);
  if (time == 0) return;
  film.rate = divide(100'000'000, time);
  film.seconds = divide(le32(head, 48) * time, 1'000'000);
}

/// A number of a script's object in FLV: its name, 0, and eight bytes.
uint64_t read_script(Bytes head, std::string_view name) {
  const size_t at = as_text(head).find(name);
  const double value = at == std::string_view::npos ? 0 : read_double(head, at + name.size(), true);
  return value > 0 && value < 1e9 ? static_cast<uint64_t>(value + 0.5) : 0;
}

}  // namespace

Film read_film(const Glimpse& file) {
  Film film;
  const Bytes head = file.head;
  if (stands(head, 0, "\x1a\x45\xdf\xa3")) {
    read_elements(head, film);
  } else if (stands(head, 8, "AVI LIST")) {
    read_avi(head, film);
  } else if (stands(head, 0, "FLV\1")) {
    film.width = read_script(head, "width\0"sv);
    film.height = read_script(head, "height\0"sv);
    film.seconds = read_script(head, "duration\0"sv);
  } else {
    read_movie(find_movie(file), film);
  }
  return film;
}

}  // namespace sluice

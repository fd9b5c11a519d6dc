// Containers of sound and moving pictures.
#include <algorithm>
#include <bit>

#include "sniff/recognisers.h"
#include "sniff/structure.h"

namespace sluice {

// --- boxes of ISO base media files ---------------------------------------------------------------

std::optional<Box> first_box(Bytes bytes) {
  //   size:4 type:4 [size:8 when size is 1] content…     size 0: to the end of the file
  if (bytes.size() < 8) return std::nullopt;
  const uint64_t stated = be32(bytes, 0);
  const size_t header = stated == 1 ? 16 : 8;
  const uint64_t given = stated == 1 ? be(bytes, 8, 8) : stated;
  const uint64_t size = stated == 0 ? bytes.size() : given;
  if (size < header || bytes.size() < header) return std::nullopt;
  const auto end = static_cast<size_t>(std::min<uint64_t>(size, bytes.size()));
  return Box{as_text(bytes.subspan(4, 4)), given, bytes.subspan(header, end - header),
             bytes.subspan(end)};
}

Bytes find_box(Bytes bytes, std::string_view type) {
  while (const std::optional<Box> box = first_box(bytes)) {
    if (box->type == type) return box->content;
    bytes = box->rest;
  }
  return {};
}

namespace sniffing {

// --- chunk files: a four-letter group, a size, and a form type that names the content --------

//   0    4      8
//   RIFF <size> WEBP …
std::optional<Match> riff(Bytes head) {
  if (stands(head, 8, "WAVE")) return Match{Kind::wav};
  if (stands(head, 8, "WEBP")) return Match{Kind::webp};
  if (stands(head, 8, "AVI ")) return Match{Kind::avi};
  return std::nullopt;
}

//   0    4      8              AT&T 4    8      12
//   FORM <size> AIFF …         AT&T FORM <size> DJVU …
std::optional<Match> iff(Bytes head) {
  if (stands(head, 0, "AT&TFORM")) {
    const bool djvu = stands(head, 12, "DJVU") || stands(head, 12, "DJVM") ||
                      stands(head, 12, "DJVI") || stands(head, 12, "THUM");
    return djvu ? std::optional(Match{Kind::djvu}) : std::nullopt;
  }
  if (stands(head, 8, "AIFF") || stands(head, 8, "AIFC")) return Match{Kind::aiff};
  return std::nullopt;
}

// --- box files: ISO/IEC 14496-12 §4.3, QuickTime, JPEG 2000 and JPEG XL ----------------------

namespace {

using namespace std::string_view_literals;

struct Brand {
  std::string_view prefix;
  Kind kind;
};

/// Brands that settle the kind by themselves, by prefix. The first row that fits is taken.
constexpr Brand kDecisive[] = {
    {"avif", Kind::avif}, {"avis", Kind::avif}, {"heic", Kind::heic}, {"heix", Kind::heic},
    {"heim", Kind::heic}, {"heis", Kind::heic}, {"hevc", Kind::heic}, {"hevx", Kind::heic},
    {"qt  ", Kind::mov},  {"M4A ", Kind::m4a},  {"M4B ", Kind::m4a},  {"M4P ", Kind::m4a},
    {"F4A ", Kind::m4a},  {"M4V", Kind::m4v},   {"3gp", Kind::gpp},   {"3gr", Kind::gpp},
    {"3gs", Kind::gpp},   {"3ge", Kind::gpp},   {"3g2", Kind::gpp2},  {"mjp2", Kind::mj2},
};

/// Brands that many kinds carry; any of them makes an otherwise unknown file an MP4 or a HEIF.
constexpr std::string_view kVideo[] = {"iso",  "mp4",  "avc1", "dash", "MSNV", "mmp4", "F4V ",
                                       "XAVC", "f4v ", "NDX",  "cmfc", "msdh", "hlsf"};
constexpr std::string_view kPicture[] = {"mif1", "mif2", "msf1", "miaf"};

std::optional<Kind> decisive(std::string_view brand) {
  for (const Brand& row : kDecisive) {
    if (brand.starts_with(row.prefix)) return row.kind;
  }
  return std::nullopt;
}

template <size_t N>
bool among(std::string_view brand, const std::string_view (&prefixes)[N]) {
  for (const std::string_view prefix : prefixes) {
    if (brand.starts_with(prefix)) return true;
  }
  return false;
}

/// The compatible brands that may refine a major brand of `general` kind.
bool refines(Kind general, Kind kind) {
  if (general == Kind::heif) return kind == Kind::avif || kind == Kind::heic;
  return kind == Kind::m4a;
}

//   0      4    8       12        16
//   <size> ftyp <major> <version> <brand> <brand> …
std::optional<Match> file_type_box(Bytes head) {
  const size_t size = be32(head, 0);
  if (size < 16 || size > 1024 || size % 4 != 0 || !holds(head, 0, 16)) return std::nullopt;
  const std::string_view text = as_text(head);
  const std::string_view major = text.substr(8, 4);
  if (const auto kind = decisive(major)) return Match{*kind};

  std::optional<Kind> general;
  if (among(major, kPicture)) general = Kind::heif;
  if (among(major, kVideo)) general = Kind::mp4;
  if (!holds(head, 0, size))
    return general == Kind::heif ? std::optional(Match{*general}) : std::nullopt;
  for (size_t at = 16; at < size; at += 4) {
    const std::string_view brand = text.substr(at, 4);
    if (!general && among(brand, kPicture)) general = Kind::heif;
    if (!general && among(brand, kVideo)) general = Kind::mp4;
  }
  for (size_t at = 16; general && at < size; at += 4) {
    const auto kind = decisive(text.substr(at, 4));
    if (kind && refines(*general, *kind)) return Match{*kind};
  }
  return general ? std::optional(Match{*general}) : std::nullopt;
}

//   0           4    8           12
//   00 00 00 0C jP__ 0D 0A 87 0A 00 00 00 14 ftyp jp2_ …
std::optional<Match> jpeg_2000(Bytes head) {
  if (!stands(head, 16, "ftyp")) return std::nullopt;
  if (stands(head, 20, "jp2 ")) return Match{Kind::jp2};
  if (stands(head, 20, "jpx ")) return Match{Kind::jpx};
  if (stands(head, 20, "jpm ")) return Match{Kind::jpm};
  if (stands(head, 20, "mjp2")) return Match{Kind::mj2};
  return std::nullopt;
}

/// QuickTime files from before `ftyp`: a movie atom with its header, or padding before one.
bool old_quicktime(Bytes head) {
  if (stands(head, 4, "moov")) return stands(head, 12, "mvhd") || stands(head, 12, "cmov");
  const size_t size = be32(head, 0);
  const bool padding =
      stands(head, 4, "wide") || stands(head, 4, "free") || stands(head, 4, "skip");
  if (!padding || size < 8 || !holds(head, size, 8)) return false;
  return stands(head, size + 4, "mdat") || stands(head, size + 4, "moov");
}

}  // namespace

std::optional<Match> boxes(Bytes head) {
  if (stands(head, 4, "ftyp")) return file_type_box(head);
  if (stands(head, 0, "\0\0\0\x0CjP  \r\n\x87\n"sv)) return jpeg_2000(head);
  if (stands(head, 0, "\0\0\0\x0CJXL \r\n\x87\n"sv)) return Match{Kind::jxl};
  if (old_quicktime(head)) return Match{Kind::mov};
  return std::nullopt;
}

// --- Matroska and WebM: the DocType in the EBML header (RFC 8794 §11.2.4) --------------------

namespace {

/// A variable-size integer: as many leading zero bits as bytes follow the first (RFC 8794 §4).
///
///   1xxxxxxx    01xxxxxx xxxxxxxx    001xxxxx xxxxxxxx xxxxxxxx …
struct VariableInteger {
  uint64_t value = 0;
  size_t length = 0;  ///< 0: not there
};

VariableInteger read_integer(Bytes head, size_t at, bool keep_marker) {
  if (!holds(head, at, 1) || head[at] == 0) return {};
  const size_t length = static_cast<size_t>(std::countl_zero(head[at])) + 1;
  if (!holds(head, at, length)) return {};
  uint64_t value = keep_marker ? head[at] : head[at] & (0xFFu >> length);
  for (size_t i = 1; i < length; ++i) value = value << 8 | head[at + i];
  return {value, length};
}

constexpr uint64_t kDocType = 0x4282;

/// The DocType in an EBML header that begins at 4, behind the signature; nothing when the head ends
/// before it.
std::optional<std::string_view> doc_type(Bytes head) {
  const VariableInteger size = read_integer(head, 4, false);
  size_t at = 4 + size.length;
  while (size.length > 0 && at < head.size()) {
    const VariableInteger id = read_integer(head, at, true);
    const VariableInteger length = read_integer(head, at + id.length, false);
    if (id.length == 0 || length.length == 0 || length.value > head.size()) break;
    at += id.length + length.length;
    const size_t count = static_cast<size_t>(length.value);
    if (!holds(head, at, count)) break;
    if (id.value == kDocType) {
      // The string may be padded with nulls.
      const std::string_view name = as_text(head.subspan(at, count));
      return name.substr(0, name.find('\0'));
    }
    at += count;
  }
  return std::nullopt;
}

}  // namespace

namespace {

/// The types of a film's tracks as bits, from the elements in their order, since an index in front
/// names them too; 0 where the tracks do not end in sight.
uint32_t read_track_types(Bytes head) {
  constexpr uint64_t kSegment = 0x1853'8067;
  constexpr uint64_t kTracks = 0x1654'AE6B;
  constexpr uint64_t kTrack = 0xAE;
  constexpr uint64_t kType = 0x83;
  const VariableInteger header = read_integer(head, 4, false);
  if (header.length == 0 || !holds(head, 4, header.length + header.value)) return 0;
  uint64_t at = 4 + header.length + header.value;
  uint64_t end = 0;
  uint32_t types = 0;
  while (end == 0 || at < end) {
    const VariableInteger id = read_integer(head, static_cast<size_t>(at), true);
    const VariableInteger size = read_integer(head, static_cast<size_t>(at + id.length), false);
    if (id.length == 0 || size.length == 0) return 0;
    at += id.length + size.length;
    const bool opens = id.value == kSegment || id.value == kTrack;
    if (!opens && !holds(head, at, size.value)) return 0;
    if (id.value == kTracks) end = at + size.value;
    if (id.value == kType) types |= 1u << (u8(head, at) & 31);
    if (!opens && id.value != kTracks) at += size.value;
  }
  return types;
}

}  // namespace

std::optional<Match> ebml(Bytes head) {
  const auto type = doc_type(head);
  constexpr uint32_t kPictures = 1 << 1;
  constexpr uint32_t kSound = 1 << 2;
  const bool sound = (read_track_types(head) & (kPictures | kSound)) == kSound;
  if (type == "webm") return Match{sound ? Kind::weba : Kind::webm};
  // WebM is a profile of Matroska, so that is the answer as long as none is seen.
  if (!type || type == "matroska") return Match{sound ? Kind::mka : Kind::matroska};
  return std::nullopt;
}

// --- Ogg: each of the first pages opens one stream (RFC 3533 §6, RFC 5334) -------------------

namespace {

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

// --- Windows Media: the streams of an ASF header (ASF specification §2, §3.3, §10.4) ---------

namespace {

constexpr std::string_view kHeader =
    "\x30\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9\x00\xAA\x00\x62\xCE\x6C"sv;
constexpr std::string_view kVideoStream =
    "\xC0\xEF\x19\xBC\x4D\x5B\xCF\x11\xA8\xFD\x00\x80\x5F\x5C\x44\x2B"sv;
constexpr std::string_view kAudioStream =
    "\x40\x9E\x69\xF8\x4D\x5B\xCF\x11\xA8\xFD\x00\x80\x5F\x5C\x44\x2B"sv;

}  // namespace

std::optional<Match> asf(Bytes head) {
  if (!stands(head, 0, kHeader)) return std::nullopt;
  const std::string_view text = as_text(head);
  if (text.find(kVideoStream) != text.npos) return Match{Kind::wmv};
  // Only a header seen to its end shows that there is no video.
  const bool complete = holds(head, 16, 8) && le32(head, 20) == 0 && le32(head, 16) <= head.size();
  if (complete && text.find(kAudioStream) != text.npos) return Match{Kind::wma};
  return Match{Kind::asf};
}

// --- MPEG audio and streams ----------------------------------------------------------------------

// Their sync words are short, so headers are validated, and only a second header where the first
// says it must be makes a match certain.

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

}  // namespace sniffing

}  // namespace sluice

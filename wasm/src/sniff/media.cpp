// Containers of sound and moving pictures.
#include <bit>

#include "sniff/recognisers.h"

namespace sluice::sniffing {

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

std::optional<Match> ebml(Bytes head) {
  const auto type = doc_type(head);
  if (type == "webm") return Match{Kind::webm};
  // WebM is a profile of Matroska, so that is the answer as long as none is seen.
  if (!type || type == "matroska") return Match{Kind::matroska};
  return std::nullopt;
}

// --- Ogg: each of the first pages opens one stream (RFC 3533 §6, RFC 5334) -------------------

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

// --- Windows Media: the streams of an ASF header (ASF specification §2, §3.3, §10.4) ---------

namespace {

using namespace std::string_view_literals;

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

}  // namespace sluice::sniffing

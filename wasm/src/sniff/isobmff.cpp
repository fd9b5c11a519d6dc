// Box files: ISO base media (ISO/IEC 14496-12 §4.3), QuickTime before it, JPEG 2000 and JPEG XL.
#include "sniff/recognisers.h"

namespace sluice::sniffing {
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

}  // namespace sluice::sniffing

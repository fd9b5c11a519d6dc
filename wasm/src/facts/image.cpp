#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "facts/kinds.h"
#include "sluice/bytes.h"
#include "sniff/structure.h"
#include "text/ascii.h"

namespace sluice {

namespace {

// One reader for each family; each looks at its own signature first.

// BITMAPFILEHEADER (14 bytes), then BITMAPCOREHEADER (12 bytes, 16-bit fields) or BITMAPINFOHEADER
// and its successors (32-bit fields; a negative height means rows from the top).
std::optional<Dimensions> bmp_dimensions(Bytes head) {
  if (!stands(head, 0, "BM")) return std::nullopt;
  const uint32_t header = le32(head, 14);
  if (header == 12) return Dimensions{le16(head, 18), le16(head, 20)};
  if (header < 16 || header > 256) return std::nullopt;
  const uint32_t width = le32(head, 18);
  const uint32_t height = le32(head, 22);
  if (width > INT32_MAX) return std::nullopt;
  return Dimensions{width, height > INT32_MAX ? 0u - height : height};
}

/// Fields in the byte order that the file's first two bytes name.
struct Order {
  Bytes head;
  bool big;

  uint32_t u16(uint64_t at) const { return big ? be16(head, at) : le16(head, at); }
  uint32_t u32(uint64_t at) const { return big ? be32(head, at) : le32(head, at); }
};

// TIFF 6.0 §2: II or MM, 42, offset of the first directory. A directory is a count:2 and entries of
// 12 bytes: tag:2 type:2 count:4 value:4, where a SHORT (3) takes the first two bytes of the value.
// BigTIFF has 43, the offset at 8, a count:8 and entries of 20 bytes with the value at 12.
std::optional<Dimensions> tiff_dimensions(Bytes head) {
  constexpr uint32_t kWidth = 256;
  constexpr uint32_t kHeight = 257;
  const bool big = stands(head, 0, "MM");
  if (!big && !stands(head, 0, "II")) return std::nullopt;
  const Order file{head, big};
  const bool wide = file.u16(2) == 43;
  if (!wide && file.u16(2) != 42) return std::nullopt;
  const uint64_t directory = wide ? read_integer(head, 8, 8, big) : file.u32(4);
  if (directory > head.size()) return std::nullopt;
  const uint64_t entries = wide ? read_integer(head, directory, 8, big) : file.u16(directory);
  const uint64_t first = directory + (wide ? 8 : 2);
  const uint64_t width = wide ? 20 : 12;
  Dimensions found;
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t entry = first + i * width;
    if (entry + width > head.size()) break;
    const uint32_t tag = file.u16(entry);
    const uint32_t type = file.u16(entry + 2);
    const uint64_t place = entry + (wide ? 12 : 8);
    const uint32_t value = type == 3 ? file.u16(place) : type == 4 ? file.u32(place) : 0;
    if (tag == kWidth) found.width = value;
    if (tag == kHeight) found.height = value;
  }
  return found;
}

// ICONDIR: 0:2 kind:2 (1 icon, 2 cursor) count:2, then entries of 16 bytes that begin width:1
// height:1, where 0 stands for 256. The largest is the one a person thinks of.
std::optional<Dimensions> ico_dimensions(Bytes head) {
  const uint32_t kind = le16(head, 2);
  if (head.size() < 22 || le16(head, 0) != 0 || (kind != 1 && kind != 2)) return std::nullopt;
  Dimensions largest;
  for (uint32_t i = 0; i < le16(head, 4); ++i) {
    const uint64_t entry = 6 + uint64_t{i} * 16;
    if (entry + 16 > head.size()) break;
    const uint32_t width = u8(head, entry);
    const uint32_t height = u8(head, entry + 1);
    const Dimensions found{width == 0 ? 256 : width, height == 0 ? 256 : height};
    if (found.width * found.height > largest.width * largest.height) largest = found;
  }
  return largest;
}

// Adobe Photoshop file format, file header: 8BPS version:2 (1, or 2 for PSB) reserved:6 channels:2
// height:4 width:4.
std::optional<Dimensions> psd_dimensions(Bytes head) {
  const uint32_t version = be16(head, 4);
  if (!stands(head, 0, "8BPS") || (version != 1 && version != 2)) return std::nullopt;
  return Dimensions{be32(head, 18), be32(head, 14)};
}

// JPEG 2000 (ISO/IEC 15444-1): a codestream begins with SIZ (annex A.5.1): capabilities at 6,
// width:4 height:4 and what is left out of them, :4 each; a file has jp2h with ihdr (annex
// I.5.3.1): height:4 width:4.
std::optional<Dimensions> jpeg_2000_dimensions(Bytes head) {
  if (stands(head, 0, "\xff\x4f\xff\x51")) {
    return Dimensions{uint64_t{be32(head, 8)} - std::min(be32(head, 8), be32(head, 16)),
                      uint64_t{be32(head, 12)} - std::min(be32(head, 12), be32(head, 20))};
  }
  if (!stands(head, 4, "jP  ")) return std::nullopt;
  const Bytes header = find_box(find_box(head, "jp2h"), "ihdr");
  return Dimensions{be32(header, 4), be32(header, 0)};
}

// DjVu 3: AT&T FORM size:4 DJVU INFO size:4 width:2 height:2, the higher byte first.
std::optional<Dimensions> djvu_dimensions(Bytes head) {
  if (!stands(head, 0, "AT&TFORM") || !stands(head, 12, "DJVUINFO")) return std::nullopt;
  return Dimensions{be16(head, 24), be16(head, 26)};
}

// Netpbm: `P6 40 30 255`, with comments in between; `P7` has its sides by name.
std::optional<Dimensions> netpbm_dimensions(Bytes head) {
  constexpr size_t kHeader = 1'024;
  std::string_view text = as_text(head).substr(0, kHeader);
  if (text.size() < 3 || text[0] != 'P') return std::nullopt;
  const bool named = text[1] == '7';
  if (!named && (text[1] < '4' || text[1] > '6')) return std::nullopt;
  text.remove_prefix(2);
  Dimensions found;
  for (uint64_t* const side : {&found.width, &found.height}) {
    if (named) {
      const std::string_view name = side == &found.width ? "WIDTH " : "HEIGHT ";
      text.remove_prefix(std::min(text.find(name), text.size()));
      text.remove_prefix(std::min(name.size(), text.size()));
    }
    while (!text.empty() && !is_digit(text[0])) {
      const size_t end = text[0] == '#' ? text.find('\n') : 0;
      text.remove_prefix(std::min(end, text.size() - 1) + 1);
    }
    for (int i = 0; i < 9 && !text.empty() && is_digit(text[0]); ++i, text.remove_prefix(1)) {
      *side = *side * 10 + static_cast<uint64_t>(text[0] - '0');
    }
  }
  return found;
}

/// The properties of an item, by their places in `ipco`: what `ipma` (ISO/IEC 14496-12 §8.11.14)
/// ties to it, told one after the other.
template <typename Use>
void walk_properties(Bytes ipma, uint64_t item, Use use) {
  const uint32_t version = u8(ipma, 0);
  const bool wide = (u8(ipma, 3) & 1) != 0;
  const uint32_t entries = be32(ipma, 4);
  uint64_t at = 8;
  for (uint32_t i = 0; i < entries && at < ipma.size(); ++i) {
    const size_t width = version < 1 ? 2 : 4;
    const bool wanted = be(ipma, at, width) == item;
    at += width;
    const uint32_t count = u8(ipma, at++);
    for (uint32_t j = 0; j < count; ++j, at += wide ? 2 : 1) {
      if (wanted) use(wide ? be16(ipma, at) & 0x7fff : u8(ipma, at) & 0x7f);
    }
    if (wanted) return;
  }
}

// HEIF (ISO/IEC 23008-12 §6.5.3), also AVIF: meta (a full box) has in pitm which item the image is,
// in iprp › ipma which properties it has, and in iprp › ipco those: ispe its size (of a grid the
// whole), irot quarter turns to the left. imir keeps the size.
std::optional<Dimensions> heif_dimensions(Bytes head) {
  if (!stands(head, 4, "ftyp")) return std::nullopt;
  const Bytes meta = find_box(head, "meta");
  if (meta.size() < 4) return std::nullopt;
  const Bytes inner = meta.subspan(4);
  const Bytes primary = find_box(inner, "pitm");
  const uint64_t item = be(primary, 4, u8(primary, 0) == 0 ? 2 : 4);
  const Bytes properties = find_box(inner, "iprp");
  const Bytes container = find_box(properties, "ipco");
  Dimensions found;
  bool turned = false;
  walk_properties(find_box(properties, "ipma"), item, [&](uint32_t wanted) {
    Bytes rest = container;
    for (uint32_t index = 1; const std::optional<Box> box = first_box(rest); ++index) {
      rest = box->rest;
      if (index != wanted) continue;
      if (box->type == "ispe") found = {be32(box->content, 4), be32(box->content, 8)};
      if (box->type == "irot") turned = (u8(box->content, 0) & 1) != 0;
      break;
    }
  });
  if (turned) std::swap(found.width, found.height);
  return found;
}

/// One side: in steps of eight, or in as many bits as a selector says.
uint64_t side(Bits& bits, bool small) {
  if (small) return (uint64_t{bits.take(5)} + 1) * 8;
  static constexpr uint32_t kWidths[] = {9, 13, 18, 30};
  const uint32_t selector = bits.take(2);
  return uint64_t{bits.take(kWidths[selector])} + 1;
}

uint64_t width_by_ratio(uint64_t height, uint32_t ratio) {
  static constexpr uint32_t kRatios[][2] = {{1, 1},  {12, 10}, {4, 3}, {3, 2},
                                            {16, 9}, {5, 4},   {2, 1}};
  const auto& [over, under] = kRatios[ratio - 1];
  return height * over / under;
}

/// The naked codestream of a file, or of its first jxlc or jxlp box.
Bytes codestream(Bytes head) {
  if (stands(head, 0, "\xff\x0a")) return head;
  if (!stands(head, 4, "JXL \r\n\x87\n")) return {};
  const Bytes whole = find_box(head, "jxlc");
  if (!whole.empty()) return whole;
  const Bytes part = find_box(head, "jxlp");
  return part.size() < 4 ? Bytes{} : part.subspan(4);
}

// ISO/IEC 18181-1 §D.2, SizeHeader: small:1 height ratio:3 [width when the ratio is 0]
std::optional<Dimensions> jxl_dimensions(Bytes head) {
  const Bytes stream = codestream(head);
  if (!stands(stream, 0, "\xff\x0a")) return std::nullopt;
  Bits bits(stream.subspan(2));
  const bool small = bits.take(1) == 1;
  const uint64_t height = side(bits, small);
  const uint32_t ratio = bits.take(3);
  const uint64_t width = ratio == 0 ? side(bits, small) : width_by_ratio(height, ratio);
  if (bits.past_end()) return std::nullopt;
  return Dimensions{width, height};
}

std::string_view behind(std::string_view text, std::string_view end) {
  const size_t at = text.find(end);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + end.size());
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kWhite);
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

/// The root's attributes: what stands behind `<svg`, after declarations and comments.
std::string_view root_attributes(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (text = trimmed(text); text.starts_with('<'); text = trimmed(text)) {
    if (text.starts_with("<!--")) {
      text = behind(text, "-->");
    } else if (text.starts_with("<?")) {
      text = behind(text, "?>");
    } else if (text.starts_with("<!")) {
      text = behind_doctype(text);
    } else if (text.starts_with("<svg")) {
      return text.substr(4);
    } else {
      break;
    }
  }
  return {};
}

/// Reads a plain decimal, rounded to a whole number, and moves behind it; 0 when there is none or
/// it has more than nine digits before the point.
uint64_t take_number(std::string_view& text) {
  const auto digit = [&](size_t at) { return at < text.size() && is_digit(text[at]); };
  uint64_t value = 0;
  size_t at = 0;
  for (; digit(at); ++at) {
    if (at == 9) return 0;
    value = value * 10 + static_cast<uint64_t>(text[at] - '0');
  }
  if (at < text.size() && text[at] == '.') {
    if (digit(at + 1) && text[at + 1] >= '5') ++value;
    for (++at; digit(at);) ++at;
  }
  text.remove_prefix(at);
  return value;
}

/// The units that a length is told in (SVG 2 §8.9); others give way to the view box.
constexpr std::string_view kUnits[] = {"pt", "mm", "cm", "in", "pc"};

/// A length as it is given, with what stands behind the number in `unit`; 0 for a unit that says
/// nothing by itself.
uint64_t read_length(std::string_view text, std::string_view& unit) {
  text = trimmed(text);
  const uint64_t value = take_number(text);
  unit = {};
  for (const std::string_view known : kUnits) {
    if (text.starts_with(known)) unit = known;
  }
  text.remove_prefix(text.starts_with("px") ? 2 : unit.size());
  return trimmed(text).empty() ? value : 0;
}

/// `min-x min-y width height`; the two minima may be anything.
Dimensions view_box(std::string_view text) {
  constexpr std::string_view kBetween = ", \t\r\n";
  for (int i = 0; i < 2; ++i) {
    text = trimmed(text);
    const size_t end = text.find_first_of(kBetween);
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
  }
  Dimensions found;
  found.width = take_number(text);
  const size_t next = text.find_first_not_of(kBetween);
  if (next == 0 || next == std::string_view::npos) return {};
  text.remove_prefix(next);
  found.height = take_number(text);
  return trimmed(text).empty() ? found : Dimensions{};
}

/// What a start tag's attributes say of its size.
struct Size {
  Dimensions given;
  Dimensions view;
  std::string_view across;  ///< the unit of the width that is given
  std::string_view down;
};

/// Walks `name = "value"` pairs up to the end of the tag.
Size size_of(std::string_view text) {
  Size size;
  for (text = trimmed(text); !text.empty() && text[0] != '>' && text[0] != '/';
       text = trimmed(text)) {
    const size_t end = text.find_first_of("= \t\r\n>");
    if (end == std::string_view::npos) break;
    const std::string_view name = text.substr(0, end);
    text = trimmed(text.substr(end));
    if (!text.starts_with('=')) break;
    text = trimmed(text.substr(1));
    if (!text.starts_with('"') && !text.starts_with('\'')) break;
    const size_t close = text.find(text[0], 1);
    if (close == std::string_view::npos) break;
    const std::string_view value = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    if (name == "width") size.given.width = read_length(value, size.across);
    if (name == "height") size.given.height = read_length(value, size.down);
    if (name == "viewBox") size.view = view_box(value);
  }
  return size;
}

// SVG 2 §5.1, §8.6: width and height of the root in one unit, else the size of its viewBox.
std::optional<Dimensions> svg_dimensions(Bytes head) {
  Size size = size_of(root_attributes(as_text(head)));
  if (size.given.width == 0 || size.given.height == 0 || size.across != size.down) return size.view;
  size.given.unit = size.across;
  return size.given;
}

}  // namespace

std::optional<Dimensions> find_dimensions(Bytes head) {
  using Reader = std::optional<Dimensions> (*)(Bytes);
  static constexpr std::array<Reader, 11> kReaders = {
      read_dimensions,      bmp_dimensions,  tiff_dimensions,  ico_dimensions,
      psd_dimensions,       heif_dimensions, jxl_dimensions,   svg_dimensions,
      jpeg_2000_dimensions, djvu_dimensions, netpbm_dimensions};
  for (const Reader read : kReaders) {
    const std::optional<Dimensions> found = read(head);
    if (found && found->width > 0 && found->height > 0) return found;
  }
  return std::nullopt;
}

}  // namespace sluice

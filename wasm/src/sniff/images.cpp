// Images whose signatures are two or three bytes long, or shared.
#include <algorithm>
#include <bitset>

#include "sniff/recognisers.h"

namespace sluice::sniffing {
namespace {

using namespace std::string_view_literals;

/// One dimension of a JPEG XL image in pixels; 0 when it is not in its shortest form or over 2^18.
uint32_t jxl_dimension(Bits& bits, bool small) {
  if (small) return 8 * (bits.take(5) + 1);
  constexpr uint32_t kWidths[] = {9, 13, 18, 30};
  const uint32_t selector = bits.take(2);
  const uint32_t value = bits.take(kWidths[selector]) + 1;
  if (selector == 3) return 0;
  const bool shortest = selector == 0 || value > 1u << kWidths[selector - 1];
  return shortest ? value : 0;
}

/// Compressed bytes use most of the 256 values early; text that was decoded as if it were base64
/// does not. 256 random bytes show 162 values on average, decoded English near 110.
bool looks_compressed(Bytes head) {
  if (head.size() < 256) return false;
  std::bitset<256> values;
  for (const uint8_t byte : head.first(256)) values.set(byte);
  return values.count() >= 140;
}

}  // namespace

/// A start-of-image marker, then another; certain when that one may stand there and has a length
/// (ISO/IEC 10918-1 §B.1).
std::optional<Match> jpeg(Bytes head) {
  if (!holds(head, 3, 1)) return std::nullopt;
  const uint8_t marker = head[3];
  const bool frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC8;
  const bool table = marker == 0xDB || marker == 0xDD;
  const bool application = (marker >= 0xE0 && marker <= 0xEF) || marker == 0xFE;
  const bool length = !holds(head, 4, 2) || be16(head, 4) >= 2;
  return Match{Kind::jpeg, (frame || table || application) && length};
}

//   0  2    6           10     14       18
//   BM size 0 0 (16+16) offset DIB size …
std::optional<Match> bmp(Bytes head) {
  constexpr uint32_t kHeaders[] = {12, 40, 52, 56, 64, 108, 124};
  constexpr uint32_t kDepths[] = {0, 1, 2, 4, 8, 16, 24, 32};
  if (!holds(head, 0, 30)) return std::nullopt;
  const uint32_t dib = le32(head, 14);
  const uint32_t offset = le32(head, 10);
  const size_t planes = dib == 12 ? 22 : 26;
  const auto has = [](const auto& list, uint32_t value) {
    return std::find(std::begin(list), std::end(list), value) != std::end(list);
  };
  const bool sane = le32(head, 6) == 0 && has(kHeaders, dib) && offset >= 14 + dib &&
                    offset < 1u << 20 && le16(head, planes) == 1 &&
                    has(kDepths, le16(head, planes + 2));
  return sane ? std::optional(Match{Kind::bmp}) : std::nullopt;
}

//   0    2    4     6     7      8      9        10     12    14   18
//   0 0  type count width height colors reserved planes depth size offset
std::optional<Match> icon(Bytes head) {
  if (!holds(head, 0, 22)) return std::nullopt;
  const bool cursor = head[2] == 2;
  const uint32_t count = le16(head, 4);
  const uint32_t directory_end = 6 + 16 * count;
  const uint32_t size = le32(head, 14);
  const uint32_t offset = le32(head, 18);
  if (count == 0 || count > 256 || (head[9] != 0 && head[9] != 0xFF)) return std::nullopt;
  if (size < 40 || size > 1u << 24 || offset < directory_end || offset > 1u << 24)
    return std::nullopt;
  if (cursor) {
    // Planes and depth are the hot spot here, which lies inside the image; a width of 0 means 256.
    const bool inside = le16(head, 10) <= 256 && le16(head, 12) <= 256;
    return inside ? std::optional(Match{Kind::cur}) : std::nullopt;
  }
  const bool sane = le16(head, 10) <= 1 && le16(head, 12) <= 32;
  return sane ? std::optional(Match{Kind::ico}) : std::nullopt;
}

/// FF 0A and then a size header (ISO/IEC 18181-1 §D.2): two bytes that chance meets, so the match
/// is certain only for bytes that look compressed.
std::optional<Match> jxl_codestream(Bytes head) {
  Bits bits(head.subspan(2));
  const bool small = bits.take(1) != 0;
  const uint32_t height = jxl_dimension(bits, small);
  const uint32_t ratio = bits.take(3);
  const uint32_t width = ratio == 0 ? jxl_dimension(bits, small) : height;
  if (bits.past_end() || height == 0 || width == 0) return std::nullopt;
  return Match{Kind::jxl, looks_compressed(head)};
}

/// FITS 4.0 §4.4.1: the first header says how many axes its picture has. A file that begins with
/// none holds tables, or pictures further on.
std::optional<Match> fits(Bytes head) {
  const std::string_view text = as_text(head);
  const size_t at = text.find("NAXIS   =");
  const size_t value = at == text.npos ? at : text.find_first_not_of(' ', at + 9);
  const bool empty = value != text.npos && text[value] == '0';
  return Match{empty ? Kind::fits_table : Kind::fits};
}

}  // namespace sluice::sniffing

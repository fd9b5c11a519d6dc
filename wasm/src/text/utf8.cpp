#include "text/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "text/ascii.h"
#include "text/block.h"

namespace sluice {

namespace {

// The first malformed byte at or behind `at`, or the end.
const char* find_malformed(const char* at, const char* end) {
  while (at < end) {
    at = find_first(at, end, [](auto bytes) { return bytes.high(); });
    if (at == end) break;
    const size_t length = utf8_length(at, end);
    if (length == 0) return at;
    at += length;
  }
  return end;
}

}  // namespace

std::string decode_wide(std::string_view bytes, size_t width, bool big, std::string_view stops) {
  std::string text;
  uint32_t high = 0;
  for (; bytes.size() >= width; bytes.remove_prefix(width)) {
    uint32_t unit = 0;
    for (size_t i = 0; i < width; ++i) {
      unit = unit << 8 | static_cast<uint8_t>(bytes[big ? i : width - 1 - i]);
    }
    if (unit < 0x80 && stops.find(static_cast<char>(unit)) != stops.npos) break;
    if (unit >> 10 == 0x36) {
      high = unit;
      continue;
    }
    const bool pair = unit >> 10 == 0x37 && high != 0;
    append_code_point(text, pair              ? 0x10000 + ((high & 0x3ff) << 10 | (unit & 0x3ff))
                            : unit < 0x110000 ? unit
                                              : kReplacement);
    high = 0;
  }
  return text;
}

bool replace_malformed(std::string& text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  const char* bad = find_malformed(begin, end);
  if (bad == end) return false;
  std::string repaired;
  while (bad < end) {
    repaired.append(begin, bad).append("\xEF\xBF\xBD");
    begin = bad + 1;
    bad = find_malformed(begin, end);
  }
  text = repaired.append(begin, end);
  return true;
}

// --- code points -----------------------------------------------------------------------------

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

/// Characters that show nothing, or change how others show (Unicode 15:
/// Default_Ignorable_Code_Point, Bidi_Control, interlinear annotation, blank letters,
/// non-characters of the first plane).
constexpr std::array<Range, 22> kInvisible = {{
    {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c},   {0x115f, 0x1160},
    {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x202a, 0x202e},
    {0x2060, 0x206f},   {0x2800, 0x2800},   {0x3164, 0x3164},   {0xfdd0, 0xfdef},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
    {0xfffe, 0xffff},   {0x13430, 0x1345f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
    {0x1fffe, 0x1ffff}, {0xe0000, 0xe0fff},
}};

/// What a lead byte promises: the bytes that follow, and the range of the first of them.
struct Lead {
  size_t trail = 0;
  uint8_t low = 0x80;
  uint8_t high = 0xbf;
};

Lead lead_of(uint8_t byte) {
  if (byte >= 0xc2 && byte <= 0xdf) return {1};
  if (byte == 0xe0) return {2, 0xa0, 0xbf};
  if (byte >= 0xe1 && byte <= 0xef) return {2};  // 0xed: surrogates are caught by value
  if (byte == 0xf0) return {3, 0x90, 0xbf};
  if (byte >= 0xf1 && byte <= 0xf3) return {3};
  if (byte == 0xf4) return {3, 0x80, 0x8f};
  return {};
}

}  // namespace

CodePoint read_code_point(std::string_view text, size_t at) {
  const auto byte = [&](size_t index) { return static_cast<uint8_t>(text[index]); };
  if (byte(at) < 0x80) return {byte(at), 1};
  const Lead lead = lead_of(byte(at));
  if (lead.trail == 0) return {};
  //   1110xxxx 10xxxxxx 10xxxxxx   the lead keeps 6 - trail bits, each trail byte adds 6
  char32_t value = byte(at) & ((0x40u >> lead.trail) - 1);
  for (size_t i = 1; i <= lead.trail; ++i) {
    if (at + i >= text.size()) return {kReplacement, i};
    const uint8_t next = byte(at + i);
    const bool fits = i == 1 ? next >= lead.low && next <= lead.high : (next & 0xc0) == 0x80;
    if (!fits) return {kReplacement, i};
    value = (value << 6) | (next & 0x3fu);
  }
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  return {surrogate ? kReplacement : value, lead.trail + 1};
}

bool is_invisible(char32_t value) {
  for (const Range& range : kInvisible) {
    if (value >= range.first && value <= range.last) return true;
  }
  return false;
}

bool is_space(char32_t value) {
  return value == ' ' || (value >= 0x09 && value <= 0x0d) || value == 0xa0 || value == 0x1680 ||
         (value >= 0x2000 && value <= 0x200a) || value == 0x2028 || value == 0x2029 ||
         value == 0x202f || value == 0x205f || value == 0x3000;
}

// --- terminal control sequences --------------------------------------------------------------

namespace {

constexpr char kEscape = '\x1b';
constexpr char kBell = '\x07';
constexpr char kC1Lead = '\xc2';  // U+0080…U+009F are C2 80 … C2 9F

bool between(char character, uint8_t low, uint8_t high) {
  const auto byte = static_cast<uint8_t>(character);
  return byte >= low && byte <= high;
}

/// ESC [ │ 0–9:;<=>? … │ space–/ … │ @–~
size_t csi_end(std::string_view text, size_t at) {
  while (at < text.size() && between(text[at], 0x30, 0x3f)) ++at;
  while (at < text.size() && between(text[at], 0x20, 0x2f)) ++at;
  if (at < text.size() && between(text[at], 0x40, 0x7e)) ++at;
  return at;
}

/// Up to BEL, `ESC \` or U+009C.
size_t string_end(std::string_view text, size_t at) {
  for (; at < text.size(); ++at) {
    if (text[at] == kBell) return at + 1;
    const bool two = at + 1 < text.size();
    if (two && text[at] == kEscape && text[at + 1] == '\\') return at + 2;
    if (two && text[at] == kC1Lead && text[at + 1] == '\x9c') return at + 2;
  }
  return at;
}

/// Behind the introducer, given as the character that follows ESC in the 7-bit spelling.
size_t sequence_end(std::string_view text, size_t at, char introducer) {
  switch (introducer) {
    case '[':
      return csi_end(text, at);
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
      return string_end(text, at);
    default:
      return at;
  }
}

}  // namespace

size_t ansi_length(std::string_view text, size_t at) {
  if (at + 1 >= text.size()) return 0;
  const char next = text[at + 1];
  if (text[at] == kC1Lead && between(next, 0x80, 0x9f)) {
    return sequence_end(text, at + 2, static_cast<char>(static_cast<uint8_t>(next) - 0x40)) - at;
  }
  if (text[at] != kEscape) return 0;
  if (between(next, 0x40, 0x5f)) return sequence_end(text, at + 2, next) - at;
  // ESC ( B and its kin: intermediates, then one final byte.
  size_t end = at + 1;
  while (end < text.size() && between(text[end], 0x20, 0x2f)) ++end;
  if (end < text.size() && between(text[end], 0x30, 0x7e)) ++end;
  return end - at;
}

// --- ASCII ---------------------------------------------------------------------------------------

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), to_lower);
  return out;
}

std::optional<uint64_t> decimal(std::string_view digits, size_t most) {
  if (digits.empty() || digits.size() > most) return std::nullopt;
  uint64_t number = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return number;
}

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

}  // namespace sluice

#include "describe/ansi.h"

#include <cstdint>

namespace sluice {
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

}  // namespace sluice

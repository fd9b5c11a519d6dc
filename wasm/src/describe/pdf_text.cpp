#include "describe/pdf_text.h"

#include <cstdint>

#include "json/utf8.h"

namespace sluice {
namespace {

/// Bytes of a string that are read.
constexpr size_t kMostBytes = 512;

int digit_of(char character, int base) {
  const char low = static_cast<char>(character | 0x20);
  const int value = character <= '9' ? character - '0' : low >= 'a' ? low - 'a' + 10 : -1;
  return value < base ? value : -1;
}

/// `<FEFF0041>`: white space does not count, a last digit alone has a 0 behind it.
std::string hex_string(std::string_view source) {
  std::string bytes;
  int high = -1;
  for (const char character : source.substr(1, 2 * kMostBytes)) {
    const int digit = digit_of(character, 16);
    if (digit < 0) {
      if (character == '>') break;
    } else if (high < 0) {
      high = digit;
    } else {
      bytes += static_cast<char>(high << 4 | digit);
      high = -1;
    }
  }
  if (high >= 0) bytes += static_cast<char>(high << 4);
  return bytes;
}

/// Reads what stands behind a backslash at `at` and moves to its last character.
void append_escaped_byte(std::string& bytes, std::string_view source, size_t& at) {
  constexpr std::string_view kNames = "nrtbf";
  constexpr std::string_view kBytes = "\n\r\t\b\f";
  int octal = 0;
  size_t digits = 0;
  for (; digits < 3 && at + digits < source.size(); ++digits) {
    const int digit = digit_of(source[at + digits], 8);
    if (digit < 0) break;
    octal = octal << 3 | digit;
  }
  if (digits > 0) {
    bytes += static_cast<char>(octal);
    at += digits - 1;
    return;
  }
  const char character = source[at];
  if (character == '\r' || character == '\n') {  // the line goes on
    if (source.substr(at, 2) == "\r\n") ++at;
    return;
  }
  const size_t name = kNames.find(character);
  bytes += name < kNames.size() ? kBytes[name] : character;
}

/// `(a (balanced) \(string\) \101)`.
std::string literal_string(std::string_view source) {
  std::string bytes;
  int depth = 0;
  for (size_t at = 0; at < source.size() && bytes.size() < kMostBytes; ++at) {
    const char character = source[at];
    if (character == '\\') {
      if (++at < source.size()) append_escaped_byte(bytes, source, at);
      continue;
    }
    depth += character == '(' ? 1 : character == ')' ? -1 : 0;
    if (depth == 0) break;
    if (at > 0) bytes += character;
  }
  return bytes;
}

std::string from_utf16(std::string_view bytes, bool big) {
  std::string text;
  uint32_t high = 0;
  for (size_t at = 2; at + 1 < bytes.size(); at += 2) {
    const auto unit = static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + (big ? 0 : 1)]) << 8 |
                                            static_cast<uint8_t>(bytes[at + (big ? 1 : 0)]));
    if (unit >> 10 == 0x36) {
      high = unit;
      continue;
    }
    const bool pair = unit >> 10 == 0x37 && high != 0;
    append_code_point(text, pair ? 0x10000 + ((high & 0x3ff) << 10 | (unit & 0x3ff)) : unit);
    high = 0;
  }
  return text;
}

/// PDFDocEncoding (ISO 32000-1 annex D.2): Latin-1 but for these.
std::string from_pdf_doc(std::string_view bytes) {
  static constexpr char16_t kFrom18[] = u"\u02d8\u02c7\u02c6\u02d9\u02dd\u02db\u02da\u02dc";
  static constexpr char16_t kFrom80[] =
      u"\u2022\u2020\u2021\u2026\u2014\u2013\u0192\u2044\u2039\u203a\u2212\u2030\u201e\u201c\u201d"
      u"\u2018\u2019\u201a\u2122\ufb01\ufb02\u0141\u0152\u0160\u0178\u017d\u0131\u0142\u0153\u0161"
      u"\u017e\ufffd\u20ac";
  std::string text;
  for (const char character : bytes) {
    const auto byte = static_cast<uint8_t>(character);
    const uint32_t point = byte >= 0x80 && byte <= 0xa0   ? kFrom80[byte - 0x80]
                           : byte >= 0x18 && byte <= 0x1f ? kFrom18[byte - 0x18]
                                                          : byte;
    append_code_point(text, point);
  }
  return text;
}

}  // namespace

std::string pdf_text(std::string_view source) {
  std::string bytes;
  if (source.starts_with('(')) bytes = literal_string(source);
  if (source.starts_with('<')) bytes = hex_string(source);
  if (bytes.starts_with("\xfe\xff")) return from_utf16(bytes, true);
  if (bytes.starts_with("\xff\xfe")) return from_utf16(bytes, false);
  if (bytes.starts_with("\xef\xbb\xbf")) return bytes.substr(3);
  return from_pdf_doc(bytes);
}

}  // namespace sluice

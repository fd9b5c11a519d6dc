// UTF-8 (RFC 3629 §4) and its generalisation for lone surrogates (WTF-8). JSON text has to be UTF-8
// (RFC 8259 §8.1), but servers also send other things.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

inline bool is_continuation(char c) {
  return (static_cast<uint8_t>(c) & 0xC0) == 0x80;
}

/// The length of the well-formed sequence at `at` (1 to 4 bytes), or 0 if it is malformed:
/// incomplete, overlong, a surrogate, or above U+10FFFF.
inline size_t utf8_length(const char* at, const char* end) {
  const auto lead = static_cast<uint8_t>(*at);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (static_cast<size_t>(end - at) < length) return 0;
  const auto second = static_cast<uint8_t>(at[1]);
  // The second byte tells overlong forms, surrogates and values above U+10FFFF apart.
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (second < low || second > high) return 0;
  for (size_t i = 2; i < length; ++i)
    if (!is_continuation(at[i])) return 0;
  return length;
}

/// Writes a code point, at most four bytes. A surrogate becomes three (WTF-8). Returns where it
/// ends.
inline char* write_code_point(char* to, uint32_t code) {
  const auto tail = [&](int shift) { *to++ = static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    *to++ = static_cast<char>(code);
  } else if (code < 0x800) {
    *to++ = static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    *to++ = static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    *to++ = static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
  return to;
}

/// Appends a code point, as `write_code_point` writes it.
inline void append_code_point(std::string& out, uint32_t code) {
  char bytes[4];
  out.append(bytes, write_code_point(bytes, code));
}

/// UTF-16 or UTF-32, of `width` (2 or 4) bytes a unit, as UTF-8, up to the first unit among
/// `stops`. Half a surrogate pair that comes first is left out.
std::string decode_wide(std::string_view bytes, size_t width, bool big,
                        std::string_view stops = {});

/// Replaces every byte that begins no well-formed sequence by U+FFFD, like any decoder. False if
/// there was nothing to replace.
bool replace_malformed(std::string& text);

// --- code points of text that may not be UTF-8, and terminal control sequences in it -------------

inline constexpr char32_t kReplacement = U'\uFFFD';

/// One step through a text.
struct CodePoint {
  char32_t value = kReplacement;
  size_t length = 1;  ///< bytes it took, at least 1
};

/// Reads the code point at `text[at]`, `at` in range. What is not UTF-8 (Unicode 15 §3.9, table
/// 3-7) reads as U+FFFD: each maximal broken sequence once, a surrogate in three bytes (WTF-8)
/// once.
CodePoint read_code_point(std::string_view text, size_t at);

/// A control character: C0, DEL, C1.
constexpr bool is_control(char32_t value) {
  return value < 0x20 || (value >= 0x7f && value < 0xa0);
}

/// Whether a character shows nothing, or changes how others show: zero-width characters, bidi
/// controls, variation selectors, tags, blank letters.
bool is_invisible(char32_t value);

/// White space of any kind, line and paragraph separators among it.
bool is_space(char32_t value);

/// Bytes of the control sequence (ECMA-48 §5.3–5.6) that starts at `text[at]`, 0 when none does.
/// Both spellings, `ESC [` and the C1 character U+009B; CSI with parameters and final byte, the
/// strings OSC, DCS, SOS, PM, APC with all they hold up to BEL or ST (or the end of the text), and
/// two-byte escapes.
size_t ansi_length(std::string_view text, size_t at);

}  // namespace sluice

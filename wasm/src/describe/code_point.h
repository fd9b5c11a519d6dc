// Code points of text that may not be UTF-8, and terminal control sequences in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

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

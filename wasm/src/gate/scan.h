// The fast scanner: finds the few bytes inside a string that need a closer look.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice::gate {

/// Where a scan of string bytes stopped, where its current stretch began, and what it passed.
struct Scan {
  const uint8_t* at;          ///< a quote, control byte, `[`, no whole escape, or where stretches
                              ///< matter one that may spell bytes; or the end
  const uint8_t* stretch;     ///< first byte behind the last one outside 0x2B–0x7A
  bool long_stretch = false;  ///< there are kStretch bytes in it: look closer, from `stretch`
  bool ascii = true;          ///< certain: each byte was a character
  bool sound = true;          ///< certain: none stands for what `count_damage` counts
};

/// Whether an escape of `\u` or another character may be a control, or U+FFFD.
inline bool may_stand_for_damage(uint8_t escaped) {
  return escaped == 'u' || escaped == 'b';
}

/// Whether behind an escape bytes may go on in a spelling of their own: a quote before `0`, as in
/// `{"0":137}`, or a backslash before `x`, as in `b'\x89'`. The byte behind the escape is there.
inline bool may_spell_bytes(const uint8_t* escape) {
  return (escape[1] == '"' && escape[2] == '0') || (escape[1] == '\\' && escape[2] == 'x');
}

/// How many bytes in a row that could belong to a run make the exact lexer look at them. That is
/// the shortest line of a wrapped run, since the lines may be indented.
inline constexpr size_t kStretch = 16;

/// Scans from `at` to a byte that stops it, the end, or a long stretch. `stretch` is where the
/// current stretch began; with a null pointer stretches do not matter. What is found depends only
/// on the bytes, not on their alignment.
Scan scan_string(const uint8_t* at, const uint8_t* end, const uint8_t* stretch);

/// The same, byte by byte.
Scan scan_string_scalar(const uint8_t* at, const uint8_t* end, const uint8_t* stretch);

/// A string that is too short to hold a run.
struct ShortString {
  bool closed = false;  ///< the closing quote was found, and nothing before it needs the lexer
  size_t bytes = 0;     ///< before the closing quote
  size_t characters = 0;
};

/// How far `short_string` looks. Shorter than any run that is extracted.
inline constexpr size_t kShortString = 48;

/// Looks for the end of a string without escapes and brackets, at most kShortString bytes ahead.
ShortString short_string(const uint8_t* at, const uint8_t* end);

/// The short strings that lie in 64 bytes.
class ShortStrings {
 public:
  explicit ShortStrings(const uint8_t* begin);

  const uint8_t* begin() const { return begin_; }
  /// The string whose opening quote is at `quote`, one of the 64 bytes.
  ShortString operator[](const uint8_t* quote) const {
    const auto place = static_cast<uint32_t>(quote - begin_);
    const auto length = static_cast<uint32_t>(std::countr_zero(quotes_ >> place >> 1));
    if (length >= kShortString) return {};
    // Mostly there are none of the others.
    if ((others_ | tails_) == 0) return {true, length, length};
    const uint64_t inside = ((uint64_t{1} << length) - 1) << place << 1;
    const auto tails = static_cast<uint32_t>(std::popcount(tails_ & inside));
    return {(others_ & inside) == 0, length, length - tails};
  }

 private:
  const uint8_t* begin_;
  uint64_t quotes_;
  uint64_t others_;  // what needs the lexer
  uint64_t tails_;   // what begins no character
};

}  // namespace sluice::gate

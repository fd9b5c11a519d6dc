// Lane 1: a fast look for the few bytes inside a string that matter.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::gate {

/// Where a scan of string bytes stopped, and the stretch it was in.
struct Scan {
  const uint8_t* at;       ///< a quote, backslash, control byte or `[`; or the end
  const uint8_t* stretch;  ///< first byte behind the last one outside 0x2B–0x7A
  bool long_stretch;       ///< `at - stretch` reached kStretch: look closer, from `stretch`
};

/// Bytes that could belong to a run, in a row, before the exact lexer looks at them: the shortest
/// line of a wrapped run, which may stand between indentations.
inline constexpr size_t kStretch = 16;

/// Scans from `at` until a byte that stops, the end, or a long stretch. `stretch` is where the
/// current stretch began. The answer depends on the bytes alone, not on alignment.
Scan scan_string(const uint8_t* at, const uint8_t* end, const uint8_t* stretch);

/// A string so short that nothing in it can be taken.
struct ShortString {
  bool closed = false;  ///< the closing quote was found, and nothing before it needs a closer look
  size_t bytes = 0;     ///< before the closing quote
  size_t characters = 0;
};

/// Looks at most kShortString bytes ahead for the end of a string without escapes and brackets.
ShortString short_string(const uint8_t* at, const uint8_t* end);

/// Bytes looked at for the end of a short string; fewer than anything that is ever taken.
inline constexpr size_t kShortString = 48;

/// Bytes at `at` that are not UTF-8 continuation bytes.
size_t count_code_points(const uint8_t* at, const uint8_t* end);

/// The scalar twin, for tests.
Scan scan_string_scalar(const uint8_t* at, const uint8_t* end, const uint8_t* stretch);

}  // namespace sluice::gate

// The elements of a run in JSON source: plain characters and escape groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/ascii.h"

namespace sluice::gate {

/// The kind of one element. A group is some backslashes and what they escape, however deeply JSON
/// is nested in strings: `\/`, `\\/`, `\u002B`, `\\n`. In a URI, `%2B` is a group too.
enum class TokenKind : uint8_t {
  letter,  ///< A–Z a–z 0–9
  plus,    ///< `+` in any spelling
  slash,
  minus,       ///< `-`, plain only
  underscore,  ///< `_`, plain only
  pad,         ///< `=` in any spelling
  line_feed,   ///< a group ending in n
  carriage,    ///< a group ending in r
  tab,         ///< a group ending in t
  quote,       ///< `"`, or a group that escapes one
  group,       ///< any other group
  other,       ///< any other byte
  need,        ///< the available bytes end inside a group
};

struct Token {
  TokenKind kind;
  uint32_t length;  ///< bytes of source; 0 for need
};

/// A group with more backslashes than this does not belong to a run.
inline constexpr size_t kMaxBackslashes = 64;

/// Reads one element. `at` must be less than `end`. `final`: no more bytes follow. `uri`: the
/// element may be percent-encoded (RFC 3986 §2.1).
Token read_token(const uint8_t* at, const uint8_t* end, bool final, bool uri = false);

/// Whether a byte belongs to either base64 alphabet (RFC 4648 §4 and §5).
inline bool is_base64_letter(uint8_t c) {
  return is_alphanumeric(c) || c == '+' || c == '/' || c == '-' || c == '_';
}

/// Counts the backslashes at `at`, up to kMaxBackslashes + 1.
size_t count_backslashes(const uint8_t* at, const uint8_t* end);

}  // namespace sluice::gate

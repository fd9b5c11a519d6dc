// The elements of a run as they stand in JSON source: plain characters and escape groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::gate {

/// What one element is. A group is k backslashes and what they escape, at whatever nesting:
/// `\/`, `\\/`, `\u002B`, `\\n` … In a URI `%2B` is one, too.
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
  need,        ///< the bytes at hand end inside a group
};

struct Token {
  TokenKind kind;
  uint32_t length;  ///< bytes of source; 0 for need
};

/// Backslashes in a row beyond which a group is not one of a run.
inline constexpr size_t kMaxBackslashes = 64;

/// Reads one element; `at < end`. `final`: no more bytes will follow. `uri`: it may be
/// percent-encoded, too (RFC 3986 §2.1).
Token read_token(const uint8_t* at, const uint8_t* end, bool final, bool uri = false);

inline bool is_hex_digit(uint8_t c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// A character of either base64 alphabet.
inline bool is_base64_letter(uint8_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '+' ||
         c == '/' || c == '-' || c == '_';
}

/// Source as text, without a copy.
inline std::string_view source_at(const uint8_t* at, size_t size) {
  return {reinterpret_cast<const char*>(at), size};
}

/// The backslashes at `at`, at most kMaxBackslashes + 1.
size_t count_backslashes(const uint8_t* at, const uint8_t* end);

}  // namespace sluice::gate

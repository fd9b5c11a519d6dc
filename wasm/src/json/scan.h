// Finds what is special in a JSON string (RFC 8259 §7).
#pragma once

#include <algorithm>
#include <cstdint>

#include "text/ascii.h"
#include "text/block.h"

namespace sluice {

/// What may stand behind a backslash alone.
inline bool is_short_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return true;
    default:
      return false;
  }
}

/// Bytes of the longest escape, `\uXXXX`.
inline constexpr size_t kMaxEscape = 6;

/// Bytes of the escape at `at`, which is a backslash; 0 if [at, end) begins with no whole one.
inline size_t escape_bytes(const uint8_t* at, const uint8_t* end) {
  const auto left = static_cast<size_t>(end - at);
  if (left < 2) return 0;
  if (at[1] != 'u') return is_short_escape(static_cast<char>(at[1])) ? 2 : 0;
  const bool whole = left >= kMaxEscape && std::all_of(at + 2, at + 6, is_hex_digit<uint8_t>);
  return whole ? kMaxEscape : 0;
}

/// The first quote, backslash or control byte in [at, end), else `end`. With `stop_at_high` also
/// stops at bytes of longer UTF-8 sequences.
inline const char* skip_plain(const char* at, const char* end, bool stop_at_high) {
  const auto special = [](auto bytes) {
    return bytes.is('"') | bytes.is('\\') | bytes.below(0x20);
  };
  if (!stop_at_high) return find_first(at, end, special);
  return find_first(at, end, [&](auto bytes) { return special(bytes) | bytes.high(); });
}

/// The first quote, backslash or control byte in [at, end).
inline const uint8_t* skip_plain(const uint8_t* at, const uint8_t* end) {
  const char* const stop =
      skip_plain(reinterpret_cast<const char*>(at), reinterpret_cast<const char*>(end), false);
  return reinterpret_cast<const uint8_t*>(stop);
}

}  // namespace sluice

// Finds the next byte that is special in a JSON string, eight bytes at a time.
#pragma once

#include <bit>
#include <cstdint>

#include "text/words.h"

namespace sluice {

/// Sets the high bit of each byte that ends a plain stretch:
///
///   byte < 0x20   control_bytes(word)
///   `"` and `\`   zero_bytes(word ^ pattern)
///   byte ≥ 0x80   the high bit itself         only if `stop_at_high`
inline uint64_t special_bytes(uint64_t word, bool stop_at_high) {
  const uint64_t quote = zero_bytes(word ^ (kOnes * '"'));
  const uint64_t backslash = zero_bytes(word ^ (kOnes * '\\'));
  return control_bytes(word) | quote | backslash | (stop_at_high ? word & kHighs : 0);
}

inline bool is_special(char c, bool stop_at_high) {
  const auto byte = static_cast<uint8_t>(c);
  return byte < 0x20 || c == '"' || c == '\\' || (stop_at_high && byte >= 0x80);
}

/// What may stand behind a backslash alone (RFC 8259 §7).
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

/// The first quote, backslash or control byte in [at, end), else `end`. With `stop_at_high` also
/// stops at bytes of longer UTF-8 sequences.
inline const char* skip_plain(const char* at, const char* end, bool stop_at_high) {
  while (end - at >= 8) {
    if (const uint64_t hits = special_bytes(load8(at), stop_at_high))
      return at + (std::countr_zero(hits) >> 3);
    at += 8;
  }
  while (at < end && !is_special(*at, stop_at_high)) ++at;
  return at;
}

/// The first quote, backslash or control byte in [at, end).
inline const uint8_t* skip_plain(const uint8_t* at, const uint8_t* end) {
  const char* const stop =
      skip_plain(reinterpret_cast<const char*>(at), reinterpret_cast<const char*>(end), false);
  return reinterpret_cast<const uint8_t*>(stop);
}

}  // namespace sluice

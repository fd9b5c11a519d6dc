// Eight bytes at a time over text: where the next byte is that a JSON string treats specially.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace sluice {

static_assert(std::endian::native == std::endian::little, "the first hit is the lowest byte");

inline constexpr uint64_t kOnes = 0x0101010101010101;
inline constexpr uint64_t kHighs = 0x8080808080808080;

inline uint64_t load8(const char* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// High bits where a byte is zero. Bits above the first hit may be false: a borrow only runs
/// upward, so the lowest one is exact.
inline uint64_t zero_bytes(uint64_t word) {
  return (word - kOnes) & ~word & kHighs;
}

/// High bits where a byte of the word ends a plain stretch:
///
///   byte < 0x20   (word - 0x20…) & ~word      a borrow into the high bit
///   `"` and `\`   zero_bytes(word ^ pattern)
///   byte ≥ 0x80   the high bit itself         only when `stop_at_high`
inline uint64_t special_bytes(uint64_t word, bool stop_at_high) {
  const uint64_t control = (word - kOnes * 0x20) & ~word;
  const uint64_t quote = zero_bytes(word ^ (kOnes * '"'));
  const uint64_t backslash = zero_bytes(word ^ (kOnes * '\\'));
  return (control | quote | backslash | (stop_at_high ? word : 0)) & kHighs;
}

inline bool is_special(char c, bool stop_at_high) {
  const auto byte = static_cast<uint8_t>(c);
  return byte < 0x20 || c == '"' || c == '\\' || (stop_at_high && byte >= 0x80);
}

/// The first quote, backslash or control byte (or, when `stop_at_high`, byte of a longer UTF-8
/// sequence) in [at, end); `end` when there is none.
inline const char* skip_plain(const char* at, const char* end, bool stop_at_high) {
  while (end - at >= 8) {
    if (const uint64_t hits = special_bytes(load8(at), stop_at_high))
      return at + (std::countr_zero(hits) >> 3);
    at += 8;
  }
  while (at < end && !is_special(*at, stop_at_high)) ++at;
  return at;
}

}  // namespace sluice

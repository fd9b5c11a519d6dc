// The inner loop over a JSON string.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace sluice {

/// The first quote, backslash or control byte in `[at, end)`, or `end`. Eight bytes at a time:
///
///   x          22 41 1f 5c …
///   x ^ 22…    00 63 3d 7e …   a zero byte is a quote; with 5c… a backslash
///   x - 20…    02 21 ff 3c …   a borrow into the top bit is a control byte
///
/// `(y - 01…) & ~y & 80…` marks the zero bytes of y; bits above the lowest mark may be false, the
/// lowest never is, and on a little-endian machine the lowest is the first byte.
inline const uint8_t* plain_text_end(const uint8_t* at, const uint8_t* end) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kTops = 0x80 * kOnes;
  if constexpr (std::endian::native == std::endian::little) {
    for (; end - at >= 8; at += 8) {
      uint64_t word;
      std::memcpy(&word, at, 8);
      const uint64_t quote = word ^ ('"' * kOnes);
      const uint64_t slash = word ^ ('\\' * kOnes);
      const uint64_t marks = ((((quote - kOnes) & ~quote) | ((slash - kOnes) & ~slash) |
                               ((word - 0x20 * kOnes) & ~word)) &
                              kTops);
      if (marks != 0) return at + std::countr_zero(marks) / 8;
    }
  }
  while (at != end && *at != '"' && *at != '\\' && *at >= 0x20) ++at;
  return at;
}

}  // namespace sluice

// Membership of 16 characters at once, by two table look-ups on their nibbles.
#pragma once

#ifdef __wasm_simd128__

#include <wasm_simd128.h>

#include "codec/alphabet.h"

namespace sluice::codec::simd128 {

/// A character is its row (high nibble) and its place in the row (low nibble):
///
///   high[row]   the one bit that stands for rows 2…7, or bit 6 for all other rows
///   low[place]  the bits of the rows whose character at this place is *not* in the set, and bit 6
///
/// so `high & low` is zero exactly for members. For `+` = 0x2b in the standard alphabet:
///
///   high[2] = 0b00000001    low[0xb] = 0b01101110    & = 0
struct Nibbles {
  alignas(16) uint8_t low[16];
  alignas(16) uint8_t high[16];
};

constexpr Nibbles nibbles(Set set) {
  Nibbles table{};
  for (unsigned row = 0; row < 16; ++row) {
    const unsigned bit = row >= 2 && row <= 7 ? 1U << (row - 2) : 0x40U;
    table.high[row] = static_cast<uint8_t>(bit);
    for (unsigned place = 0; place < 16; ++place) {
      if (in_set(set, static_cast<uint8_t>(row << 4 | place))) continue;
      table.low[place] = static_cast<uint8_t>(table.low[place] | bit);
    }
  }
  return table;
}

template <Set set>
inline constexpr Nibbles kNibbles = nibbles(set);

/// The look-up tables of a set, in registers.
template <Set set>
struct Classifier {
  v128_t low = wasm_v128_load(kNibbles<set>.low);
  v128_t high = wasm_v128_load(kNibbles<set>.high);

  /// Non-zero in each lane whose character is outside the set; `rows` holds the high nibbles.
  v128_t outside(v128_t text, v128_t rows) const {
    const v128_t places = wasm_v128_and(text, wasm_i8x16_const_splat(0x0f));
    return wasm_v128_and(wasm_i8x16_swizzle(low, places), wasm_i8x16_swizzle(high, rows));
  }
  v128_t outside(v128_t text) const { return outside(text, wasm_u8x16_shr(text, 4)); }
};

}  // namespace sluice::codec::simd128

#endif

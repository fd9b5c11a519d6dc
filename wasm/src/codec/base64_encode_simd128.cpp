#include "codec/kernels.h"

#ifdef __wasm_simd128__

#include <wasm_simd128.h>

namespace sluice::codec::simd128 {

namespace {

/// Spreads twelve bytes into sixteen 6-bit values; lane bits, most significant first:
///
///   shuffle     00000000 aaaaaabb bbbbcccc ccdddddd     bytes 2, 1, 0 of each three, as 32 bits
///     >> 18     00000000 00000000 00000000 00aaaaaa
///     >> 4      00000000 00000000 00bbbbbb 00000000     masked
///     << 10     00000000 00cccccc 00000000 00000000     masked
///     << 24     00dddddd 00000000 00000000 00000000     masked
///   bytes       00aaaaaa 00bbbbbb 00cccccc 00dddddd     little-endian: a is stored first
inline v128_t spread(v128_t bytes) {
  // Byte 15 stands for a zero: its bits fall to the masks.
  const v128_t words =
      wasm_i8x16_shuffle(bytes, bytes, 2, 1, 0, 15, 5, 4, 3, 15, 8, 7, 6, 15, 11, 10, 9, 15);
  const v128_t a = wasm_v128_and(wasm_u32x4_shr(words, 18), wasm_i32x4_const_splat(0x3f));
  const v128_t b = wasm_v128_and(wasm_u32x4_shr(words, 4), wasm_i32x4_const_splat(0x3f00));
  const v128_t c = wasm_v128_and(wasm_i32x4_shl(words, 10), wasm_i32x4_const_splat(0x3f0000));
  const v128_t d = wasm_v128_and(wasm_i32x4_shl(words, 24), wasm_i32x4_const_splat(0x3f000000));
  return wasm_v128_or(wasm_v128_or(a, b), wasm_v128_or(c, d));
}

/// What to add to a value to get its character, by class of value:
///
///   value       0–25   26–51  52–61    62   63
///   max(v-51,0) 0      0      1–10     11   12
///   + (v > 25)  0      1      2–11     12   13
struct Offsets {
  alignas(16) uint8_t by_class[16];
};

constexpr Offsets offsets(const char* digits) {
  Offsets table{};
  const auto offset = [digits](unsigned value) {
    return static_cast<uint8_t>(static_cast<unsigned>(digits[value]) - value);
  };
  table.by_class[0] = offset(0);
  table.by_class[1] = offset(26);
  for (unsigned value = 52; value < 64; ++value) table.by_class[value - 50] = offset(value);
  return table;
}

constexpr Offsets kStandardOffsets = offsets(kStandardDigits);
constexpr Offsets kUrlOffsets = offsets(kUrlDigits);

inline v128_t translate(v128_t values, v128_t table) {
  const v128_t beyond = wasm_u8x16_sub_sat(values, wasm_i8x16_const_splat(51));
  const v128_t above25 = wasm_i8x16_gt(values, wasm_i8x16_const_splat(25));
  const v128_t classes = wasm_i8x16_sub(beyond, above25);
  return wasm_i8x16_add(values, wasm_i8x16_swizzle(table, classes));
}

}  // namespace

size_t encode_base64(Bytes bytes, Alphabet alphabet, char* out) {
  const Offsets& offsets = alphabet == Alphabet::url ? kUrlOffsets : kStandardOffsets;
  const v128_t table = wasm_v128_load(offsets.by_class);
  size_t at = 0;
  for (; bytes.size() - at >= 16; at += 12, out += 16) {
    wasm_v128_store(out, translate(spread(wasm_v128_load(bytes.data() + at)), table));
  }
  return at;
}

}  // namespace sluice::codec::simd128

#endif

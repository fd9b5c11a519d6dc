#include "codec/kernels.h"

#ifdef __wasm_simd128__

#include "codec/classify_simd128.h"

namespace sluice::codec::simd128 {

namespace {

/// Values of 16 digits. Digits lie in row 3, letters in rows 4 and 6, where bit 6 is set:
///
///   '7'  0011 0111    & 0f = 7
///   'b'  0110 0010    & 0f = 2, + 9
inline v128_t values(v128_t digits) {
  const v128_t low = wasm_v128_and(digits, wasm_i8x16_const_splat(0x0f));
  const v128_t letter = wasm_i8x16_gt(digits, wasm_i8x16_const_splat(0x3f));
  return wasm_i8x16_add(low, wasm_v128_and(letter, wasm_i8x16_const_splat(9)));
}

/// Joins pairs of values, each pair in a lane of 16 bits, most significant bit first:
///
///   16 bits     0000llll0000hhhh     little-endian: the second digit above the first
///     << 4      llll0000hhhh0000
///     >> 8      000000000000llll
///     | & ff    00000000hhhhllll
inline v128_t join(v128_t values) {
  const v128_t joined = wasm_v128_or(wasm_i16x8_shl(values, 4), wasm_u16x8_shr(values, 8));
  return wasm_v128_and(joined, wasm_i16x8_const_splat(0x00ff));
}

}  // namespace

Decoded decode_hex(Bytes text, uint8_t* out) {
  const Classifier<Set::hex> classifier;
  Decoded done;
  for (; text.size() - done.read >= 32; done.read += 32, done.written += 16) {
    const v128_t front = wasm_v128_load(text.data() + done.read);
    const v128_t back = wasm_v128_load(text.data() + done.read + 16);
    const v128_t bad = wasm_v128_or(classifier.outside(front), classifier.outside(back));
    if (wasm_v128_any_true(bad)) break;
    wasm_v128_store(out + done.written,
                    wasm_u8x16_narrow_i16x8(join(values(front)), join(values(back))));
  }
  return done;
}

size_t encode_hex(Bytes bytes, bool upper, char* out) {
  const v128_t digits = wasm_v128_load(upper ? kUpperHexDigits : kHexDigits);
  size_t at = 0;
  for (; bytes.size() - at >= 16; at += 16, out += 32) {
    const v128_t block = wasm_v128_load(bytes.data() + at);
    const v128_t high = wasm_i8x16_swizzle(digits, wasm_u8x16_shr(block, 4));
    const v128_t low =
        wasm_i8x16_swizzle(digits, wasm_v128_and(block, wasm_i8x16_const_splat(0x0f)));
    // h0 l0 h1 l1 … h7 l7, then h8 l8 … h15 l15
    wasm_v128_store(
        out, wasm_i8x16_shuffle(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
    wasm_v128_store(out + 16, wasm_i8x16_shuffle(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                                 13, 29, 14, 30, 15, 31));
  }
  return at;
}

}  // namespace sluice::codec::simd128

#endif

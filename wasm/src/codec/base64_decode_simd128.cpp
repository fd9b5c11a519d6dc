#include "codec/kernels.h"

#ifdef __wasm_simd128__

#include "codec/classify_simd128.h"

namespace sluice::codec::simd128 {

namespace {

/// What to add to a character to get its value. It depends on the row (high nibble) alone, but for
/// the digit 63, which shares its row with others and therefore looks eight rows further.
struct Rolls {
  alignas(16) uint8_t by_row[16];
};

constexpr Rolls rolls(Alphabet alphabet) {
  Rolls table{};
  for (unsigned c = 0; c < 256; ++c) {
    const uint8_t value = value_of(alphabet, static_cast<uint8_t>(c));
    if (value == kOutside) continue;
    table.by_row[value == 63 ? c >> 4 | 8 : c >> 4] = static_cast<uint8_t>(value - c);
  }
  return table;
}

template <Alphabet alphabet>
inline constexpr Rolls kRolls = rolls(alphabet);

/// Packs sixteen 6-bit values into twelve bytes; lane bits, most significant first:
///
///   bytes       00aaaaaa 00bbbbbb 00cccccc 00dddddd
///   16 bits     00bbbbbb00aaaaaa                        little-endian: b above a
///     << 6      bb00aaaaaa000000
///     >> 8      0000000000bbbbbb
///     | & fff   0000aaaaaabbbbbb, 0000ccccccdddddd
///   32 bits     00000000 aaaaaabb bbbbcccc ccdddddd     ab × 2¹² + cd × 1
///   shuffle     aaaaaabb bbbbcccc ccdddddd              its bytes 2, 1, 0
inline v128_t pack(v128_t values) {
  const v128_t joined = wasm_v128_or(wasm_i16x8_shl(values, 6), wasm_u16x8_shr(values, 8));
  const v128_t twelves = wasm_v128_and(joined, wasm_i16x8_const_splat(0x0fff));
  const v128_t weights = wasm_i16x8_const(4096, 1, 4096, 1, 4096, 1, 4096, 1);
  const v128_t words = wasm_i32x4_dot_i16x8(twelves, weights);
  return wasm_i8x16_shuffle(words, words, 2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 3, 3, 3, 3);
}

template <Alphabet alphabet>
struct Decoder {
  Classifier<set_of(alphabet)> classifier;
  v128_t rolls = wasm_v128_load(kRolls<alphabet>.by_row);

  /// Values of 16 characters; `bad` collects those outside the alphabet.
  v128_t values(const uint8_t* text, v128_t& bad) const {
    constexpr int8_t digit63 = alphabet == Alphabet::url ? '_' : '/';
    const v128_t characters = wasm_v128_load(text);
    const v128_t rows = wasm_u8x16_shr(characters, 4);
    bad = wasm_v128_or(bad, classifier.outside(characters, rows));
    const v128_t is63 = wasm_i8x16_eq(characters, wasm_i8x16_const_splat(digit63));
    const v128_t eight = wasm_v128_and(is63, wasm_i8x16_const_splat(8));
    return wasm_i8x16_add(characters, wasm_i8x16_swizzle(rolls, wasm_v128_or(rows, eight)));
  }
};

template <Alphabet alphabet>
Decoded blocks(Bytes text, uint8_t* out) {
  const Decoder<alphabet> decoder;
  const uint8_t* from = text.data();
  Decoded done;
  for (; text.size() - done.read >= 64; done.read += 64, done.written += 48) {
    v128_t bad = wasm_i8x16_const_splat(0);
    const uint8_t* block = from + done.read;
    const v128_t a = decoder.values(block, bad), b = decoder.values(block + 16, bad);
    const v128_t c = decoder.values(block + 32, bad), d = decoder.values(block + 48, bad);
    if (wasm_v128_any_true(bad)) break;
    wasm_v128_store(out + done.written, pack(a));
    wasm_v128_store(out + done.written + 12, pack(b));
    wasm_v128_store(out + done.written + 24, pack(c));
    wasm_v128_store(out + done.written + 36, pack(d));
  }
  for (; text.size() - done.read >= 16; done.read += 16, done.written += 12) {
    v128_t bad = wasm_i8x16_const_splat(0);
    const v128_t values = decoder.values(from + done.read, bad);
    if (wasm_v128_any_true(bad)) break;
    wasm_v128_store(out + done.written, pack(values));
  }
  return done;
}

}  // namespace

Decoded decode_base64(Bytes text, Alphabet alphabet, uint8_t* out) {
  if (alphabet == Alphabet::url) return blocks<Alphabet::url>(text, out);
  return blocks<Alphabet::standard>(text, out);
}

}  // namespace sluice::codec::simd128

#endif

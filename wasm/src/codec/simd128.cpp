#include "codec/kernels.h"

#ifdef __wasm_simd128__

#include <wasm_simd128.h>

namespace sluice::codec::simd128 {

// --- membership of 16 characters at once, by two table look-ups on their nibbles -----------------

namespace {

/// A character is its row (high nibble) and its place in the row (low nibble):
///
///   high[row]   the one bit that stands for rows 2…7, or bit 6 for all other rows
///   low[place]  the bits of the rows whose character at this place is *not* in the set, and bit 6
///
/// so `high & low` is zero exactly for members. In the standard alphabet, place b of rows 2…7 has
/// `+ ; K [ k {`, of which `;`, `[` and `{` (rows 3, 5 and 7) are not members:
///
///   +  = 2b    high[2] = 00000001    low[b] = 01101010    & = 00000000
///   ;  = 3b    high[3] = 00000010    low[b] = 01101010    & = 00000010
///   \xab       high[a] = 01000000    low[b] = 01101010    & = 01000000
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

// --- spans ---------------------------------------------------------------------------------------

/// Whole blocks of 16 characters in the set, four of them to a test while there are as many.
template <Set set>
size_t span_blocks(Bytes text) {
  const Classifier<set> classifier;
  const auto outside = [&](size_t at) {
    return classifier.outside(wasm_v128_load(text.data() + at));
  };
  size_t at = 0;
  for (; text.size() - at >= 64; at += 64) {
    const v128_t front = wasm_v128_or(outside(at), outside(at + 16));
    const v128_t back = wasm_v128_or(outside(at + 32), outside(at + 48));
    if (wasm_v128_any_true(wasm_v128_or(front, back))) break;
  }
  for (; text.size() - at >= 16; at += 16) {
    if (wasm_v128_any_true(outside(at))) break;
  }
  return at;
}

}  // namespace

size_t span(Bytes text, Set set) {
  switch (set) {
    case Set::standard:
      return span_blocks<Set::standard>(text);
    case Set::url:
      return span_blocks<Set::url>(text);
    case Set::hex:
      return span_blocks<Set::hex>(text);
    case Set::any_base64:
      break;
  }
  return span_blocks<Set::any_base64>(text);
}

// --- base64 decoded ------------------------------------------------------------------------------

namespace {

/// What to add to a character to get its value. It depends on the row (high nibble) alone, but for
/// the digit 63, which shares its row with others and therefore looks eight rows further:
///
///   standard   +    /    0–9    A–O, P–Z  a–o, p–z
///   row        2    2|8  3      4, 5      6, 7
///   value      62   63   52–61  0–25      26–51
///   to add     +19  +16  +4     −65       −71
///
///   url        -    _              the rest as above
///   row        2    5|8
///   to add     +17  −32
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

/// Each store writes 16 bytes, of which 12 count: the next one overwrites the other four.
template <Alphabet alphabet>
Decoded decode_blocks(Bytes text, uint8_t* out) {
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
  if (alphabet == Alphabet::url) return decode_blocks<Alphabet::url>(text, out);
  return decode_blocks<Alphabet::standard>(text, out);
}

// --- base64 encoded ------------------------------------------------------------------------------

namespace {

/// Spreads twelve bytes into sixteen 6-bit values; lane bits, most significant first:
///
///   shuffle     00000000 aaaaaabb bbbbcccc ccdddddd     bytes 2, 1, 0 of each three, as 32 bits
///     >> 18     00000000 00000000 00000000 00aaaaaa     masked
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
///   value         0–25   26–51  52–61  62   63
///   max(v−51, 0)  0      0      1–10   11   12
///   + (v > 25)    0      1      2–11   12   13     the class
///   to add        +65    +71    −4     −19  −16    in the standard alphabet
///                                      −17  +32    in the url alphabet
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

/// The characters of sixteen values.
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

// --- hex -----------------------------------------------------------------------------------------

namespace {

/// Values of 16 digits. Digits lie in row 3, letters in rows 4 and 6, where bit 6 is set:
///
///   '7'  0011 0111    & 0f = 7
///   'b'  0110 0010    & 0f = 2, + 9 = 11
inline v128_t hex_values(v128_t digits) {
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
inline v128_t join_pairs(v128_t values) {
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
    wasm_v128_store(out + done.written, wasm_u8x16_narrow_i16x8(join_pairs(hex_values(front)),
                                                                join_pairs(hex_values(back))));
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

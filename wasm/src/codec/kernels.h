// The alphabets of RFC 4648, and the hot loops over them, twice: `scalar` does whole inputs and
// alone finds where an error is; `simd128` does as many leading whole blocks as are free of errors
// and leaves the rest to its twin.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sluice/codec.h"

namespace sluice::codec {

/// A set of characters that a span is measured in; the first three equal `Alphabet`.
enum class Set : uint8_t { standard, url, hex, any_base64 };

constexpr Set set_of(Alphabet alphabet) {
  return static_cast<Set>(alphabet);
}

/// What the value tables hold for a character outside the alphabet.
inline constexpr uint8_t kOutside = 0xff;

/// The value of a base64 character (0–63) or hex digit (0–15), or kOutside.
constexpr uint8_t value_of(Alphabet alphabet, uint8_t c) {
  const auto from = [c](char first, int value) {
    return static_cast<uint8_t>(c - static_cast<uint8_t>(first) + value);
  };
  if (c >= '0' && c <= '9') return from('0', alphabet == Alphabet::hex ? 0 : 52);
  if (alphabet == Alphabet::hex) {
    if (c >= 'A' && c <= 'F') return from('A', 10);
    return c >= 'a' && c <= 'f' ? from('a', 10) : kOutside;
  }
  if (c >= 'A' && c <= 'Z') return from('A', 0);
  if (c >= 'a' && c <= 'z') return from('a', 26);
  if (c == (alphabet == Alphabet::url ? '-' : '+')) return 62;
  return c == (alphabet == Alphabet::url ? '_' : '/') ? 63 : kOutside;
}

/// Whether a character belongs to the set.
constexpr bool in_set(Set set, uint8_t c) {
  if (set == Set::any_base64) {
    return value_of(Alphabet::standard, c) != kOutside || value_of(Alphabet::url, c) != kOutside;
  }
  return value_of(static_cast<Alphabet>(set), c) != kOutside;
}

/// `value_of` for every byte.
constexpr std::array<uint8_t, 256> value_table(Alphabet alphabet) {
  std::array<uint8_t, 256> table{};
  for (unsigned c = 0; c < 256; ++c) table[c] = value_of(alphabet, static_cast<uint8_t>(c));
  return table;
}

/// `in_set` for every byte.
constexpr std::array<bool, 256> set_table(Set set) {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < 256; ++c) table[c] = in_set(set, static_cast<uint8_t>(c));
  return table;
}

inline constexpr char kStandardDigits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
inline constexpr char kUrlDigits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
inline constexpr char kHexDigits[] = "0123456789abcdef";
inline constexpr char kUpperHexDigits[] = "0123456789ABCDEF";

namespace scalar {

/// Length of the leading stretch of `text` inside `set`.
size_t span(Bytes text, Set set);

/// Whole quanta of base64 (standard or url) up to the first that holds a foreign character.
Decoded decode_base64(Bytes text, Alphabet alphabet, uint8_t* out);

/// Whole pairs of hex digits up to the first that holds a foreign character.
Decoded decode_hex(Bytes text, uint8_t* out);

/// Encodes whole groups of three bytes into four characters; gives the bytes read.
size_t encode_base64(Bytes bytes, Alphabet alphabet, char* out);

/// Encodes every byte into two digits; gives the bytes read.
size_t encode_hex(Bytes bytes, bool upper, char* out);

}  // namespace scalar

/// Same contracts, but each may stop early, at the end of any 16-byte block. `decode_base64` stores
/// 16 bytes where 12 count, so it may write 4 bytes past `written`.
namespace simd128 {

#ifdef __wasm_simd128__
size_t span(Bytes text, Set set);
Decoded decode_base64(Bytes text, Alphabet alphabet, uint8_t* out);
Decoded decode_hex(Bytes text, uint8_t* out);
size_t encode_base64(Bytes bytes, Alphabet alphabet, char* out);
size_t encode_hex(Bytes bytes, bool upper, char* out);
#else
inline size_t span(Bytes, Set) {
  return 0;
}
inline Decoded decode_base64(Bytes, Alphabet, uint8_t*) {
  return {};
}
inline Decoded decode_hex(Bytes, uint8_t*) {
  return {};
}
inline size_t encode_base64(Bytes, Alphabet, char*) {
  return 0;
}
inline size_t encode_hex(Bytes, bool, char*) {
  return 0;
}
#endif

}  // namespace simd128

}  // namespace sluice::codec

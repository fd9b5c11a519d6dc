// The alphabets of RFC 4648 as compile-time facts: one definition that scalar tables and SIMD
// nibble tables are both derived from.
#pragma once

#include <array>
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

}  // namespace sluice::codec

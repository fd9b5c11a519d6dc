// Bytes of a text in words of eight: which of them are what one looks for.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

namespace sluice {

static_assert(std::endian::native == std::endian::little, "the first hit is the lowest byte");

inline constexpr uint64_t kOnes = 0x0101010101010101;
inline constexpr uint64_t kHighs = 0x8080808080808080;

inline uint64_t load8(const char* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Sets the high bit of each zero byte. Bits above the first hit may be wrong, since a borrow runs
/// upward; the lowest is exact.
inline uint64_t zero_bytes(uint64_t word) {
  return (word - kOnes) & ~word & kHighs;
}

/// Sets the high bit of each byte below 0x20: the subtraction borrows into it, and it was not set.
inline uint64_t control_bytes(uint64_t word) {
  return (word - kOnes * 0x20) & ~word & kHighs;
}

/// The first place of `byte` in [at, end), else `end`: `memchr` of a 32-bit library reads four at a
/// time.
inline const char* find_byte(const char* at, const char* end, char byte) {
#ifdef __wasm_simd128__
  const v128_t wanted = wasm_i8x16_splat(byte);
  while (end - at >= 16 && !wasm_v128_any_true(wasm_i8x16_eq(wasm_v128_load(at), wanted))) at += 16;
#endif
  const uint64_t pattern = kOnes * static_cast<uint8_t>(byte);
  for (; end - at >= 8; at += 8) {
    if (const uint64_t hits = zero_bytes(load8(at) ^ pattern))
      return at + (std::countr_zero(hits) >> 3);
  }
  while (at < end && *at != byte) ++at;
  return at;
}

}  // namespace sluice

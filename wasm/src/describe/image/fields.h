// Fixed-width fields of a file's head. What lies behind the end of the head reads as 0, which no
// dimension and no signature is.
#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/bytes.h"

namespace sluice::image {

inline uint32_t u8(Bytes bytes, uint64_t at) {
  return at < bytes.size() ? bytes[static_cast<size_t>(at)] : 0;
}

inline uint32_t u16_le(Bytes bytes, uint64_t at) {
  return at + 2 <= bytes.size() ? u8(bytes, at) | u8(bytes, at + 1) << 8 : 0;
}

inline uint32_t u24_le(Bytes bytes, uint64_t at) {
  return at + 3 <= bytes.size() ? u16_le(bytes, at) | u8(bytes, at + 2) << 16 : 0;
}

inline uint32_t u32_le(Bytes bytes, uint64_t at) {
  return at + 4 <= bytes.size() ? u24_le(bytes, at) | u8(bytes, at + 3) << 24 : 0;
}

inline uint32_t u16_be(Bytes bytes, uint64_t at) {
  return at + 2 <= bytes.size() ? u8(bytes, at) << 8 | u8(bytes, at + 1) : 0;
}

inline uint32_t u32_be(Bytes bytes, uint64_t at) {
  return at + 4 <= bytes.size() ? u16_be(bytes, at) << 16 | u16_be(bytes, at + 2) : 0;
}

/// Whether `text` stands at `at`.
inline bool stands(Bytes bytes, uint64_t at, std::string_view text) {
  return at <= bytes.size() && as_text(bytes.subspan(static_cast<size_t>(at))).starts_with(text);
}

}  // namespace sluice::image

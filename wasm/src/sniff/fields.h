// Fixed-width fields of a file. What lies behind the end of the bytes at hand reads as 0, so
// callers that take 0 for an answer ask `holds` first.
#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/bytes.h"

namespace sluice {

/// Whether `bytes` holds the `count` bytes from `at` on.
inline bool holds(Bytes bytes, uint64_t at, uint64_t count) {
  return at <= bytes.size() && count <= bytes.size() - at;
}

/// Whether `text` stands at `at`, all of it.
bool stands(Bytes bytes, uint64_t at, std::string_view text);

/// The number of `width` (1 to 8) bytes at `at`, the highest byte first or the lowest.
uint64_t be(Bytes bytes, uint64_t at, size_t width);
uint64_t le(Bytes bytes, uint64_t at, size_t width);

inline uint32_t u8(Bytes bytes, uint64_t at) {
  return at < bytes.size() ? bytes[static_cast<size_t>(at)] : 0;
}
inline uint32_t be16(Bytes bytes, uint64_t at) {
  return static_cast<uint32_t>(be(bytes, at, 2));
}
inline uint32_t be32(Bytes bytes, uint64_t at) {
  return static_cast<uint32_t>(be(bytes, at, 4));
}
inline uint32_t le16(Bytes bytes, uint64_t at) {
  return static_cast<uint32_t>(le(bytes, at, 2));
}
inline uint32_t le24(Bytes bytes, uint64_t at) {
  return static_cast<uint32_t>(le(bytes, at, 3));
}
inline uint32_t le32(Bytes bytes, uint64_t at) {
  return static_cast<uint32_t>(le(bytes, at, 4));
}

}  // namespace sluice

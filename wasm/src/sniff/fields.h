// What is seen of a file, and its fixed-width fields. What lies behind the end of the bytes at hand
// reads as 0, so callers that take 0 for an answer ask `holds` first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "sluice/bytes.h"

namespace sluice {

/// Whether `bytes` holds the `count` bytes from `at` on.
inline bool holds(Bytes bytes, uint64_t at, uint64_t count) {
  return at <= bytes.size() && count <= bytes.size() - at;
}

/// Whether `text` stands at `at`, all of it.
inline bool stands(Bytes bytes, uint64_t at, std::string_view text) {
  return holds(bytes, at, text.size()) &&
         as_text(bytes).substr(static_cast<size_t>(at), text.size()) == text;
}

/// The number of `width` (1 to 8) bytes at `at`, the highest byte first or the lowest.
inline uint64_t be(Bytes bytes, uint64_t at, size_t width) {
  uint64_t value = 0;
  if (!holds(bytes, at, width)) return 0;
  for (const uint8_t byte : bytes.subspan(static_cast<size_t>(at), width))
    value = value << 8 | byte;
  return value;
}
inline uint64_t le(Bytes bytes, uint64_t at, size_t width) {
  uint64_t value = 0;
  if (!holds(bytes, at, width)) return 0;
  for (size_t i = width; i > 0; --i) value = value << 8 | bytes[static_cast<size_t>(at) + i - 1];
  return value;
}

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

/// The first and the last bytes of a file. They overlap, or are the same, where the file is small.
struct Glimpse {
  Bytes head;
  Bytes tail;
  uint64_t size = 0;  ///< of the whole file

  /// The bytes from `at` to where they stop being seen; none where nothing is seen.
  Bytes from(uint64_t at) const {
    const uint64_t unseen = size - std::min<uint64_t>(tail.size(), size);
    if (at >= unseen && at < size) return tail.subspan(static_cast<size_t>(at - unseen));
    return at < head.size() ? head.subspan(static_cast<size_t>(at)) : Bytes();
  }
};

}  // namespace sluice

// What a recogniser answers, and bounded reads of a file's head.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sluice/bytes.h"
#include "sniff/types.h"

namespace sluice::sniffing {

/// A recognised head. `certain`: neither text nor random data gets here by chance.
struct Match {
  Kind kind;
  bool certain = true;
};

/// Looks at a head and says what it is, or nothing.
using Recogniser = std::optional<Match> (*)(Bytes head);

/// Whether `head` holds the `count` bytes from `at` on.
inline bool holds(Bytes head, size_t at, size_t count) {
  return at <= head.size() && count <= head.size() - at;
}

/// Whether `text` stands at `at`, all of it.
inline bool stands(Bytes head, size_t at, std::string_view text) {
  return holds(head, at, text.size()) && as_text(head.subspan(at, text.size())) == text;
}

/// Big-endian and little-endian numbers; 0 where the head ends before them, so callers that take 0
/// for an answer ask `holds` first.
inline uint32_t be(Bytes head, size_t at, size_t width) {
  uint32_t value = 0;
  if (!holds(head, at, width)) return 0;
  for (size_t i = 0; i < width; ++i) value = value << 8 | head[at + i];
  return value;
}
inline uint32_t le(Bytes head, size_t at, size_t width) {
  uint32_t value = 0;
  if (!holds(head, at, width)) return 0;
  for (size_t i = width; i > 0; --i) value = value << 8 | head[at + i - 1];
  return value;
}
inline uint32_t be16(Bytes head, size_t at) {
  return be(head, at, 2);
}
inline uint32_t be32(Bytes head, size_t at) {
  return be(head, at, 4);
}
inline uint32_t le16(Bytes head, size_t at) {
  return le(head, at, 2);
}
inline uint32_t le32(Bytes head, size_t at) {
  return le(head, at, 4);
}

}  // namespace sluice::sniffing

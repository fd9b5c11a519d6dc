// The two views the core passes around: bytes in, text in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

using Bytes = std::span<const uint8_t>;

/// The bytes of a text, without a copy.
inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

/// The text over some bytes, without a copy; the bytes need not be valid UTF-8.
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string_view as_text(const uint8_t* at, const uint8_t* end) {
  return {reinterpret_cast<const char*>(at), static_cast<size_t>(end - at)};
}

}  // namespace sluice

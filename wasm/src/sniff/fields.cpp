#include "sniff/fields.h"

namespace sluice {

bool stands(Bytes bytes, uint64_t at, std::string_view text) {
  return holds(bytes, at, text.size()) &&
         as_text(bytes).substr(static_cast<size_t>(at), text.size()) == text;
}

uint64_t be(Bytes bytes, uint64_t at, size_t width) {
  uint64_t value = 0;
  if (!holds(bytes, at, width)) return 0;
  for (const uint8_t byte : bytes.subspan(static_cast<size_t>(at), width))
    value = value << 8 | byte;
  return value;
}

uint64_t le(Bytes bytes, uint64_t at, size_t width) {
  uint64_t value = 0;
  if (!holds(bytes, at, width)) return 0;
  for (size_t i = width; i > 0; --i) value = value << 8 | bytes[static_cast<size_t>(at) + i - 1];
  return value;
}

}  // namespace sluice

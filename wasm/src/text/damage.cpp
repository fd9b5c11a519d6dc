// Whether bytes are text, and how much of a text is what a decoder left of bytes.
#include <cstdint>
#include <string_view>

#include "sluice/describe.h"
#include "text/block.h"
#include "text/utf8.h"

namespace sluice {

namespace {

// Whether what begins a replacement or control character is one: U+FFFD begins with EF, and C1
// controls with C2. ESC is none: programs print colours with it.
bool is_damage(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead == 0xEF) return text.substr(0, 3) == "\xEF\xBF\xBD";
  return lead != 0xC2 || (text.size() >= 2 && static_cast<uint8_t>(text[1]) < 0xA0);
}

[[gnu::noinline]] const char* find_damage(const char* at, const char* end) {
  const auto suspect = [](auto bytes) {
    return bytes.is(0xEF) | bytes.is(0xC2) | bytes.below(0x09) | bytes.from(0x0E, 0x0C) |
           bytes.from(0x1C, 0x03) | bytes.is(0x0B);
  };
  for (;; ++at) {
    at = find_first(at, end, suspect);
    if (at == end || is_damage({at, static_cast<size_t>(end - at)})) return at;
  }
}

}  // namespace

uint64_t count_damage(std::string_view text) {
  const char* const end = text.data() + text.size();
  uint64_t count = 0;
  for (const char* at = text.data(); (at = find_damage(at, end)) != end; ++at) ++count;
  return count;
}

bool is_text(std::string_view head) {
  constexpr size_t kLongest = 4;
  const char* at = head.data();
  const char* const end = at + head.size();
  if (head.empty() || find_damage(at, end) != end) return false;
  while (at < end) {
    const size_t length = utf8_length(at, end);
    if (length == 0)
      return static_cast<uint8_t>(*at) >= 0xC2 && static_cast<size_t>(end - at) < kLongest;
    at += length;
  }
  return true;
}

}  // namespace sluice

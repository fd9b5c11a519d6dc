// Whether bytes are text, and how much of a text is what a decoder left of bytes.
#include <cstdint>
#include <string_view>

#include "sluice/describe.h"
#include "text/block.h"
#include "text/utf8.h"

namespace sluice {

// U+FFFD begins with EF and C1 controls with C2.
[[gnu::noinline]] uint64_t count_damage(std::string_view text) {
  const auto suspect = [](auto bytes) {
    return bytes.is(0xEF) | bytes.is(0xC2) | bytes.below(0x09) | bytes.from(0x0E, 0x11) |
           bytes.is(0x0B);
  };
  const char* const end = text.data() + text.size();
  uint64_t count = 0;
  for (const char* at = text.data(); (at = find_first(at, end, suspect)) != end; ++at) {
    const std::string_view left(at, static_cast<size_t>(end - at));
    if (static_cast<uint8_t>(*at) == 0xEF) {
      count += left.substr(0, 3) == "\xEF\xBF\xBD";
    } else if (static_cast<uint8_t>(*at) == 0xC2) {
      count += left.size() >= 2 && static_cast<uint8_t>(left[1]) < 0xA0;
    } else {
      ++count;
    }
  }
  return count;
}

bool is_text(std::string_view head) {
  if (head.empty() || count_damage(head) > 0) return false;
  constexpr size_t kLongest = 4;
  const char* at = head.data();
  const char* end = at + head.size();
  while (at < end) {
    const size_t length = utf8_length(at, end);
    if (length == 0)
      return static_cast<uint8_t>(*at) >= 0xC2 && static_cast<size_t>(end - at) < kLongest;
    at += length;
  }
  return true;
}

}  // namespace sluice

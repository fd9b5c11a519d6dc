// Text, and what is left of binary that was read as text.
#include "json/utf8.h"
#include "sluice/describe.h"

namespace sluice {

uint64_t count_damage(std::string_view text) {
  uint64_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<uint8_t>(text[i]);
    if (c == 0xEF) {
      count += text.substr(i, 3) == "\xEF\xBF\xBD";
    } else if (c == 0xC2) {
      count += i + 1 < text.size() && static_cast<uint8_t>(text[i + 1]) < 0xA0;
    } else if (c < 0x20) {
      count += c != '\t' && c != '\n' && c != '\r' && c != '\f';
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

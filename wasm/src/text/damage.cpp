// Whether bytes are text, and how much of a text is what a decoder left of bytes.
#include <bit>
#include <cstdint>
#include <string_view>

#include "sluice/describe.h"
#include "text/utf8.h"
#include "text/words.h"

namespace sluice {

namespace {

/// How many bytes at `at`, in words of eight, certainly hold no damage.
size_t sound_bytes(std::string_view text, size_t at) {
  for (const size_t begin = at;; at += 8) {
    if (text.size() - at < 8) return at - begin;
    const uint64_t word = load8(text.data() + at);
    const uint64_t leads = zero_bytes(word ^ (kOnes * 0xEF)) | zero_bytes(word ^ (kOnes * 0xC2));
    const uint64_t suspects = control_bytes(word) | leads;
    if (suspects != 0) return at - begin + static_cast<size_t>(std::countr_zero(suspects) >> 3);
  }
}

}  // namespace

uint64_t count_damage(std::string_view text) {
  uint64_t count = 0;
  for (size_t i = sound_bytes(text, 0); i < text.size(); ++i, i += sound_bytes(text, i)) {
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

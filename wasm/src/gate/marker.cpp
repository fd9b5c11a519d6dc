#include "sluice/segment.h"

namespace sluice {

void append_marker(std::string& out, uint32_t index) {
  out += kMarkerOpen;
  for (int shift = 12; shift >= 0; shift -= 4) out += "0123456789abcdef"[(index >> shift) & 0xF];
  out += kMarkerClose;
}

int32_t marker_at(std::string_view text, size_t at) {
  if (at >= text.size() || text.size() - at < kMarkerBytes) return -1;
  if (text[at] != kMarkerOpen || text[at + kMarkerBytes - 1] != kMarkerClose) return -1;
  int32_t index = 0;
  for (const char c : text.substr(at + 1, kMarkerBytes - 2)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) return -1;
    index = index * 16 + (digit ? c - '0' : c - 'a' + 10);
  }
  return index;
}

}  // namespace sluice

#include "json/utf8.h"

#include <algorithm>

namespace sluice {

namespace {

// The first malformed byte at or behind `at`, or the end.
const char* find_malformed(const char* at, const char* end) {
  while (at < end) {
    at = std::find_if(at, end, [](char c) { return static_cast<uint8_t>(c) >= 0x80; });
    if (at == end) break;
    const size_t length = utf8_length(at, end);
    if (length == 0) return at;
    at += length;
  }
  return end;
}

}  // namespace

bool replace_malformed(std::string& text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  const char* bad = find_malformed(begin, end);
  if (bad == end) return false;
  std::string repaired;
  while (bad < end) {
    repaired.append(begin, bad).append("\xEF\xBF\xBD");
    begin = bad + 1;
    bad = find_malformed(begin, end);
  }
  text = repaired.append(begin, end);
  return true;
}

}  // namespace sluice

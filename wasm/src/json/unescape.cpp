#include "json/unescape.h"

#include "json/utf8.h"

namespace sluice {

namespace {

bool is_high(uint32_t unit) {
  return (unit & 0xFC00) == 0xD800;
}
bool is_low(uint32_t unit) {
  return (unit & 0xFC00) == 0xDC00;
}

char short_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

/// Reads `XXXX`, or `XXXX\uXXXX` of a pair, and gives the number of characters read.
size_t append_unicode(std::string& out, std::string_view rest) {
  const uint32_t unit = hex4(rest.data());
  if (is_high(unit) && rest.size() >= 10 && rest[4] == '\\' && rest[5] == 'u') {
    const uint32_t low = hex4(rest.data() + 6);
    if (is_low(low)) {
      append_code_point(out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
      return 10;
    }
  }
  append_code_point(out, unit);
  return 4;
}

}  // namespace

uint32_t hex4(const char* at) {
  uint32_t unit = 0;
  for (int i = 0; i < 4; ++i) {
    const auto c = static_cast<uint8_t>(at[i]);
    unit = unit << 4 | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return unit;
}

void append_unescaped(std::string& out, std::string_view inside) {
  for (size_t at = 0;;) {
    const size_t backslash = inside.find('\\', at);
    out.append(inside, at, backslash == std::string_view::npos ? backslash : backslash - at);
    if (backslash == std::string_view::npos) return;
    at = backslash + 2;
    if (inside[backslash + 1] == 'u')
      at += append_unicode(out, inside.substr(at));
    else
      out += short_escape(inside[backslash + 1]);
  }
}

}  // namespace sluice

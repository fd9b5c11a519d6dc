#include "json/scan.h"
#include "sluice/segment.h"
#include "sluice/tape.h"

namespace sluice {

namespace {

constexpr char kDigits[] = "0123456789abcdef";

void append_unit(std::string& out, uint32_t unit) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(unit >> shift) & 0xF];
}

void append_control(std::string& out, char c) {
  switch (c) {
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      append_unit(out, static_cast<uint8_t>(c));
  }
}

/// Whether a surrogate stands at `at` as WTF-8 writes it: ED A0..BF xx.
bool surrogate_at(const char* at, const char* end) {
  return end - at >= 3 && static_cast<uint8_t>(at[0]) == 0xED &&
         static_cast<uint8_t>(at[1]) >= 0xA0 && static_cast<uint8_t>(at[1]) <= 0xBF &&
         (static_cast<uint8_t>(at[2]) & 0xC0) == 0x80;
}

/// Appends a stretch without quotes, backslashes and control bytes. 0xED leads all of U+D000 to
/// U+DFFF, so it alone among the high bytes is worth a look.
void append_plain(std::string& out, const char* at, const char* end) {
  const char* copied = at;
  for (;;) {
    at = static_cast<const char*>(std::memchr(at, 0xED, static_cast<size_t>(end - at)));
    if (at == nullptr) break;
    if (!surrogate_at(at, end)) {
      ++at;
      continue;
    }
    out.append(copied, at);
    append_unit(out, 0xD000u | (static_cast<uint8_t>(at[1]) & 0x3Fu) << 6 |
                         (static_cast<uint8_t>(at[2]) & 0x3Fu));
    at += 3;
    copied = at;
  }
  out.append(copied, end);
}

}  // namespace

void append_escaped(std::string& out, std::string_view text, bool markers) {
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    const char* const stop = skip_plain(at, end, false);
    append_plain(out, at, stop);
    at = stop;
    if (at == end) return;
    if (*at == '"' || *at == '\\') {
      out += '\\';
      out += *at++;
    } else if (markers && marker_at(text, static_cast<size_t>(at - text.data())) >= 0) {
      out.append(at, kMarkerBytes);
      at += kMarkerBytes;
    } else {
      append_control(out, *at++);
    }
  }
}

}  // namespace sluice

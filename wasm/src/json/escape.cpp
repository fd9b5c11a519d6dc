#include "json/scan.h"
#include "sluice/segment.h"
#include "sluice/tape.h"
#include "text/utf8.h"

namespace sluice {

// --- writing ---------------------------------------------------------------------------------

namespace {

constexpr char kDigits[] = "0123456789abcdef";

void append_unit(std::string& out, uint32_t unit) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(unit >> shift) & 0xF];
}

void append_control(std::string& out, char c) {
  //   \b \t \n VT \f \r from 8 on; VT has no short escape
  constexpr std::string_view kShort("btn\0fr", 6);
  const auto at = static_cast<size_t>(static_cast<uint8_t>(c) - '\b');
  if (at < kShort.size() && kShort[at] != '\0') {
    out += '\\';
    out += kShort[at];
  } else {
    append_unit(out, static_cast<uint8_t>(c));
  }
}

/// Whether there is a surrogate at `at`, which WTF-8 writes as ED A0…BF xx.
bool surrogate_at(const char* at, const char* end) {
  return end - at >= 3 && static_cast<uint8_t>(at[0]) == 0xED &&
         static_cast<uint8_t>(at[1]) >= 0xA0 && static_cast<uint8_t>(at[1]) <= 0xBF &&
         (static_cast<uint8_t>(at[2]) & 0xC0) == 0x80;
}

/// Appends text without quotes, backslashes and control bytes. 0xED begins all of U+D000 to U+DFFF,
/// so no other high byte can begin a surrogate.
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

// --- reading ---------------------------------------------------------------------------------

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

/// Writes what the `XXXX` at `at` stand for, or `XXXX\uXXXX` for a pair, and moves both on.
void write_unicode(char*& to, const char*& at, const char* end) {
  const uint32_t unit = hex4(at);
  at += 4;
  if (is_high(unit) && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
    const uint32_t low = hex4(at + 2);
    if (is_low(low)) {
      at += 6;
      to = write_code_point(to, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
      return;
    }
  }
  to = write_code_point(to, unit);
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

// An escape stands for fewer bytes than it has, so what is written never overtakes what is read,
// and blocks may be copied whole.
char* write_unescaped(char* to, std::string_view inside) {
  const char* at = inside.data();
  const char* const end = at + inside.size();
  while (at < end) {
    if (end - at >= static_cast<ptrdiff_t>(kBlockBytes)) {
      const Block block(at);
      block.copy(to);
      const uint32_t backslashes = block.is('\\').bits();
      const int plain = backslashes == 0 ? int{kBlockBytes} : std::countr_zero(backslashes);
      at += plain;
      to += plain;
      if (backslashes == 0) continue;
    } else if (*at != '\\') {
      *to++ = *at++;
      continue;
    }
    const char escaped = at[1];
    at += 2;
    if (escaped == 'u') {
      write_unicode(to, at, end);
    } else {
      *to++ = short_escape(escaped);
    }
  }
  return to;
}

void append_unescaped(std::string& out, std::string_view inside) {
  const size_t before = out.size();
  out.resize(before + inside.size());
  const char* const end = write_unescaped(out.data() + before, inside);
  out.resize(static_cast<size_t>(end - out.data()));
}

}  // namespace sluice

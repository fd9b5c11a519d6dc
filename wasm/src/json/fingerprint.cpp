#include <algorithm>

#include "json/scan.h"
#include "sluice/bytes.h"
#include "sluice/segment.h"
#include "sluice/tape.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice {

namespace {

/// Stands for a segment that is not part of the text: a backslash is otherwise followed by another
/// or by a quote.
constexpr std::string_view kReference = "\\!";

constexpr uint64_t power(uint64_t base, uint64_t exponent) {
  uint64_t product = 1;
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if (exponent & 1) product *= base;
  }
  return product;
}

/// Up to the first quote, backslash or control byte.
std::string_view plain(std::string_view text) {
  const Bytes bytes = as_bytes(text);
  const uint8_t* end = skip_plain(bytes.data(), bytes.data() + bytes.size());
  return text.substr(0, static_cast<size_t>(end - bytes.data()));
}

bool is_structure(char c) {
  return is_among(c, "{}[]:,\"");
}

void add_code_point(Fingerprint& print, uint32_t point) {
  std::string bytes;
  append_code_point(bytes, point);
  print.add(bytes);
}

}  // namespace

// Eight bytes at a time: one multiplication waits for the last. What the ones of all digits come
// to is known.
void Fingerprint::add(std::string_view text) {
  constexpr uint64_t kPowers[] = {power(kBase, 1), power(kBase, 2), power(kBase, 3),
                                  power(kBase, 4), power(kBase, 5), power(kBase, 6),
                                  power(kBase, 7), power(kBase, 8)};
  constexpr uint64_t kAllOnes =
      1 + kPowers[0] + kPowers[1] + kPowers[2] + kPowers[3] + kPowers[4] + kPowers[5] + kPowers[6];
  length += text.size();
  uint64_t sum = hash;
  for (; text.size() >= 8; text.remove_prefix(8)) {
    const Bytes bytes = as_bytes(text);
    sum = sum * kPowers[7] + kAllOnes + bytes[0] * kPowers[6] + bytes[1] * kPowers[5] +
          bytes[2] * kPowers[4] + bytes[3] * kPowers[3] + bytes[4] * kPowers[2] +
          bytes[5] * kPowers[1] + bytes[6] * kPowers[0] + bytes[7];
  }
  for (const uint8_t byte : as_bytes(text)) sum = sum * kBase + 1 + byte;
  hash = sum;
}

void Fingerprint::add(const Fingerprint& behind) {
  hash = hash * power(kBase, behind.length) + behind.hash;
  length += behind.length;
}

// --- source -----------------------------------------------------------------------------------

void SourcePrint::push(std::string_view source) {
  const char* at = source.data();
  const char* const end = at + source.size();
  while (at != end) {
    at = unchanged(at, end);
    if (at == end) return;
    if (escaping_) {
      escaped(*at++);
    } else if (*at == '"') {
      quote();
      ++at;
    } else {
      at = inside_ ? inside(at) : outside(at);
    }
  }
}

// Most source has no white space and few escapes: of that, as much as stands in the print as it is.
// The last quote may open a value that stands bare.
const char* SourcePrint::unchanged(const char* at, const char* end) {
  if (escaping_ || opened_ || bare_ || gap_ || high_ != 0) return at;
  const char* const begin = at;
  while (at != end) {
    at = std::find_if(at, end,
                      [this](char c) { return c == '"' || (inside_ ? c == '\\' : is_white(c)); });
    if (at == end || *at != '"' || (!inside_ && at + 1 == end)) break;
    inside_ = !inside_;
    ++at;
  }
  if (at == begin) return at;
  print_.add(std::string_view(begin, static_cast<size_t>(at - begin)));
  last_ = inside_ ? '"' : at[-1];
  return at;
}

// In a string: an escape, or what follows its quote.
const char* SourcePrint::inside(const char* at) {
  if (*at == '\\') {
    escaping_ = true;
    return at + 1;
  }
  open_quote();
  if (!bare_) return at;
  print_.add(*at);
  return at + 1;
}

// White space goes, unless two words would become one: no JSON, so it must not look like any.
const char* SourcePrint::outside(const char* at) {
  if (is_white(*at)) {
    gap_ = true;
    return at + 1;
  }
  if (!is_structure(last_) && !is_structure(*at)) print_.add(' ');
  gap_ = false;
  return at;
}

void SourcePrint::refer(const Segment& segment) {
  const bool json = segment.kind == SegmentKind::json;
  // In JSON within a string, the reference of an array of bytes stands in quotes that the gate
  // added.
  const bool bare = segment.bare || is_list(segment.form.encoding);
  if (inside_ && opened_ && bare) {
    opened_ = false;
    bare_ = true;
  } else if (inside_) {
    open_quote();
  } else {
    gap_ = false;
    last_ = 'x';
  }
  if (segment.kind == SegmentKind::run) {
    print_.add(kReference);
    return;
  }
  const Fingerprint& said = json ? segment.source_print : segment.content_print;
  unknown_ = unknown_ || said.length == 0;
  print_.add(said);
}

Fingerprint SourcePrint::finish() {
  return unknown_ || inside_ ? Fingerprint{} : print_;
}

// Something follows inside the string.
void SourcePrint::open_quote() {
  if (opened_) print_.add('"');
  opened_ = false;
  if (high_ != 0) add_code_point(print_, high_);
  high_ = 0;
}

void SourcePrint::quote() {
  if (!inside_) {
    inside_ = opened_ = true;
    gap_ = false;
    last_ = '"';
    return;
  }
  if (!bare_) {
    open_quote();
    print_.add('"');
  }
  inside_ = bare_ = false;
}

void SourcePrint::escaped(char c) {
  constexpr size_t kUnit = 5;  // `uXXXX`
  escape_ += c;
  const bool unicode = escape_[0] == 'u' && (escape_.size() == 1 || is_hex_digit(c));
  if (unicode && escape_.size() < kUnit) return;
  escaping_ = false;
  if (unicode) {
    unit();
  } else {
    open_quote();
    const bool known = is_short_escape(escape_[0]);
    std::string value;
    append_unescaped(value, known ? "\\" + escape_ : escape_);
    // One that JSON does not know keeps its backslash, and so does what would end the string.
    if (!known || value == "\"" || value == "\\") print_.add('\\');
    print_.add(value);
  }
  escape_.clear();
}

// A code unit of UTF-16; the first half of a pair waits for the second.
void SourcePrint::unit() {
  const uint32_t unit = hex4(escape_.data() + 1);
  const uint32_t high = high_;
  const bool pair = high != 0 && (unit & 0xFC00) == 0xDC00;
  if (pair) high_ = 0;
  open_quote();
  if (pair) {
    add_code_point(print_, 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00));
  } else if ((unit & 0xFC00) == 0xD800) {
    high_ = unit;
  } else {
    if (unit == '"' || unit == '\\') print_.add('\\');
    add_code_point(print_, unit);
  }
}

// --- content ----------------------------------------------------------------------------------

void ContentPrint::push(std::string_view text) {
  while (!text.empty()) {
    const std::string_view same = plain(text);
    print_.add(same);
    text.remove_prefix(same.size());
    for (; !text.empty() && plain(text.substr(0, 1)).empty(); text.remove_prefix(1)) {
      if (text[0] == '"' || text[0] == '\\') print_.add('\\');
      print_.add(text[0]);
    }
  }
}

void ContentPrint::refer() {
  print_.add(kReference);
}

}  // namespace sluice

#include "sluice/fingerprint.h"

#include "describe/plain_text.h"
#include "json/unescape.h"
#include "json/utf8.h"
#include "sluice/bytes.h"
#include "sluice/segment.h"

namespace sluice {

namespace {

// Odd, so that no bit is lost; otherwise any two.
constexpr uint64_t kOne = 0x9E3779B97F4A7C15;
constexpr uint64_t kOther = 0xD6E8FEB86659FD93;

/// Stands for a segment that is not part of the text: a backslash is otherwise followed by another
/// or by a quote.
constexpr std::string_view kReference = "\\!";

constexpr size_t kPiece = 4096;

uint64_t power(uint64_t base, uint64_t exponent) {
  uint64_t product = 1;
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if (exponent & 1) product *= base;
  }
  return product;
}

/// A polynomial in `Base`, four bytes at a time: one multiplication waits for the last.
template <uint64_t Base>
uint64_t hash(uint64_t sum, Bytes bytes) {
  constexpr uint64_t kSquare = Base * Base;
  constexpr uint64_t kCube = kSquare * Base;
  const auto digit = [&](size_t at) { return uint64_t{1} + bytes[at]; };
  size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    sum = sum * (kSquare * kSquare) + digit(at) * kCube + digit(at + 1) * kSquare +
          digit(at + 2) * Base + digit(at + 3);
  }
  for (; at < bytes.size(); ++at) sum = sum * Base + digit(at);
  return sum;
}

/// Up to the first quote, backslash or control byte.
std::string_view plain(std::string_view text) {
  const Bytes bytes = as_bytes(text);
  const uint8_t* end = plain_text_end(bytes.data(), bytes.data() + bytes.size());
  return text.substr(0, static_cast<size_t>(end - bytes.data()));
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_structure(char c) {
  return std::string_view("{}[]:,\"").find(c) != std::string_view::npos;
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

}  // namespace

void Fingerprint::add(std::string_view text) {
  one = hash<kOne>(one, as_bytes(text));
  other = hash<kOther>(other, as_bytes(text));
  length += text.size();
}

void Fingerprint::add(const Fingerprint& behind) {
  one = one * power(kOne, behind.length) + behind.one;
  other = other * power(kOther, behind.length) + behind.other;
  length += behind.length;
}

// --- source -----------------------------------------------------------------------------------

void SourcePrint::push(std::string_view source) {
  while (!source.empty()) {
    if (escaping_) {
      escaped(source[0]);
      source.remove_prefix(1);
      continue;
    }
    if (inside_) {
      const std::string_view text = plain(source);
      if (!text.empty()) {
        open_quote();
        out_ += text;
        source.remove_prefix(text.size());
        if (source.empty()) break;
      }
    }
    if (!inside_ && source[0] != '"') {
      source.remove_prefix(outside(source));
      if (out_.size() >= kPiece) flush();
      continue;
    }
    const char c = source[0];
    source.remove_prefix(1);
    if (c == '"') {
      quote();
    } else if (c == '\\') {
      escaping_ = true;
    } else {
      open_quote();
      out_ += c;
    }
    if (out_.size() >= kPiece) flush();
  }
  if (out_.size() >= kPiece) flush();
}

void SourcePrint::refer(const Segment& segment) {
  const bool json = segment.kind == SegmentKind::json;
  if (inside_ && opened_ && segment.bare) {
    opened_ = false;
    bare_ = true;
  } else if (inside_) {
    open_quote();
  } else {
    gap_ = false;
    last_ = 'x';
  }
  if (segment.kind == SegmentKind::run) {
    out_ += kReference;
    return;
  }
  flush();
  const Fingerprint& said = json ? segment.source_print : segment.content_print;
  unknown_ = unknown_ || said.length == 0;
  print_.add(said);
}

Fingerprint SourcePrint::finish() {
  flush();
  return unknown_ || inside_ ? Fingerprint{} : print_;
}

void SourcePrint::flush() {
  print_.add(out_);
  out_.clear();
}

// Something follows inside the string.
void SourcePrint::open_quote() {
  if (opened_) out_ += '"';
  opened_ = false;
  if (high_ != 0) append_code_point(out_, high_);
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
    out_ += '"';
  }
  inside_ = bare_ = false;
}

void SourcePrint::escaped(char c) {
  constexpr size_t kUnit = 5;  // `uXXXX`
  escape_ += c;
  const bool unicode = escape_[0] == 'u' && (escape_.size() == 1 || is_hex(c));
  if (unicode && escape_.size() < kUnit) return;
  escaping_ = false;
  if (unicode) {
    unit();
  } else {
    open_quote();
    const bool known = std::string_view("\"\\/bfnrt").find(escape_[0]) != std::string_view::npos;
    std::string value;
    append_unescaped(value, known ? "\\" + escape_ : escape_);
    // One that JSON does not know keeps its backslash, and so does what would end the string.
    if (!known || value == "\"" || value == "\\") out_ += '\\';
    out_ += value;
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
    append_code_point(out_, 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00));
  } else if ((unit & 0xFC00) == 0xD800) {
    high_ = unit;
  } else {
    if (unit == '"' || unit == '\\') out_ += '\\';
    append_code_point(out_, unit);
  }
}

// White space goes, unless two words would become one: no JSON, so it must not look like any.
size_t SourcePrint::outside(std::string_view source) {
  size_t end = 0;
  if (is_space(source[0])) {
    gap_ = true;
    while (end < source.size() && is_space(source[end])) ++end;
    return end;
  }
  if (gap_ && !is_structure(last_) && !is_structure(source[0])) out_ += ' ';
  gap_ = false;
  while (end < source.size() && !is_space(source[end]) && source[end] != '"') ++end;
  out_.append(source.substr(0, end));
  last_ = source[end - 1];
  return end;
}

// --- content ----------------------------------------------------------------------------------

void ContentPrint::push(std::string_view text) {
  while (!text.empty()) {
    const std::string_view same = plain(text);
    print_.add(same);
    text.remove_prefix(same.size());
    out_.clear();
    for (; !text.empty() && plain(text.substr(0, 1)).empty(); text.remove_prefix(1)) {
      if (text[0] == '"' || text[0] == '\\') out_ += '\\';
      out_ += text[0];
    }
    print_.add(out_);
  }
}

void ContentPrint::refer() {
  print_.add(kReference);
}

}  // namespace sluice

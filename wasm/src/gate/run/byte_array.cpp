#include "gate/run/byte_array.h"

#include "gate/run/byte_text.h"
#include "gate/run/token.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice::gate {

namespace {

constexpr size_t kBlock = 512;

}  // namespace

std::unique_ptr<ByteReader> open_reader(Spelled spelled, bool in_string) {
  if (spelled == Spelled::latin1) return std::make_unique<Latin1>();
  if (spelled == Spelled::python) return std::make_unique<PythonBytes>();
  if (spelled == Spelled::dump) return std::make_unique<HexDump>();
  return std::make_unique<ByteArray>(spelled == Spelled::object, in_string);
}

ByteReader::Step ByteReader::lex(const uint8_t*& at, const uint8_t* end, bool final, size_t budget,
                                 std::string& bytes) {
  const uint8_t* begin = at;
  Step step = Step::full;
  if (!opened_) {
    step = open(at, end, final);
    opened_ = step == Step::full;
  }
  // In blocks, since a string that grows by single bytes is slow in WebAssembly.
  uint8_t block[kBlock];
  uint8_t* out = block;
  while (step == Step::full && source_ + static_cast<size_t>(at - begin) < budget) {
    step = at == end ? (final ? Step::broken : Step::more) : element(at, end, final, out);
    if (out - block <= static_cast<ptrdiff_t>(kBlock - kMaxElement)) continue;
    bytes.append(as_text(block, out));
    out = block;
  }
  bytes.append(as_text(block, out));
  source_ += static_cast<size_t>(at - begin);
  return step;
}

// The length of white space at `at`. -1 if the available bytes end inside it or it is too long.
int64_t ByteArray::read_space(const uint8_t* at, const uint8_t* end, bool final) const {
  const uint8_t* p = at;
  for (;;) {
    if (p - at > static_cast<int64_t>(kMaxSpace)) return p - at;
    if (p == end) return final ? p - at : -1;
    if (*p == ' ') {
      ++p;
      continue;
    }
    if (!in_string_) {
      if (*p != '\n' && *p != '\r' && *p != '\t') return p - at;
      ++p;
      continue;
    }
    if (*p != '\\') return p - at;
    const Token token = read_token(p, end, final);
    if (token.kind == TokenKind::need) return -1;
    if (token.kind != TokenKind::line_feed && token.kind != TokenKind::carriage &&
        token.kind != TokenKind::tab) {
      return p - at;
    }
    p += token.length;
  }
}

// Moves `at` behind a quote.
ByteReader::Step ByteArray::read_quote(const uint8_t*& at, const uint8_t* end, bool final) const {
  if (at == end) return final ? Step::broken : Step::more;
  const Token token = read_token(at, end, final);
  if (token.kind == TokenKind::need) return Step::more;
  if (token.kind != TokenKind::quote || (token.length > 1) != in_string_) return Step::broken;
  at += token.length;
  return Step::full;
}

// Moves `at` from the number of an element to its value. What stands between is the same for all.
ByteReader::Step ByteArray::read_key(const uint8_t*& at, const uint8_t* end, bool final,
                                     bool first) {
  const std::string key = std::to_string(elements_) + colon_;
  const std::string_view found = as_text(at, end).substr(0, key.size());
  if (found != std::string_view(key).substr(0, found.size())) return Step::broken;
  if (found.size() < key.size()) return final ? Step::broken : Step::more;
  const uint8_t* p = at + key.size();
  if (first) {
    const Step step = read_quote(p, end, final);
    if (step != Step::full) return step;
    if (p == end) return final ? Step::broken : Step::more;
    if (*p++ != ':') return Step::broken;
    const int64_t space = read_space(p, end, final);
    if (space < 0) return Step::more;
    if (space > static_cast<int64_t>(kMaxSpace)) return Step::broken;
    p += space;
    colon_ = as_text(at + key.size(), p);
  }
  at = p;
  return Step::full;
}

ByteReader::Step ByteArray::open(const uint8_t*& at, const uint8_t* end, bool final) {
  const int64_t space = read_space(at + 1, end, final);
  if (space < 0) return Step::more;
  if (space > static_cast<int64_t>(kMaxSpace)) return Step::broken;
  const uint8_t* p = at + space + 1;
  if (object_) {
    Step step = read_quote(p, end, final);
    if (step == Step::full) step = read_key(p, end, final, true);
    if (step != Step::full) return step;
  } else if (p < end && !is_digit(*p) && *p != '-') {
    return Step::broken;
  }
  prefix_ = as_text(at, p);
  at = p;
  return Step::full;
}

// Reads an element and what follows it: a separator and a digit, or the end of the array. An
// element is read only together with what shows that it is complete.
ByteReader::Step ByteArray::element(const uint8_t*& at, const uint8_t* end, bool final,
                                    uint8_t*& out) {
  const uint8_t* p = at;
  if (object_ && elements_ > 0) {
    const Step step = read_key(p, end, final, false);
    if (step != Step::full) return step;
  }
  const bool minus = p < end && *p == '-';
  const uint8_t* const digits = minus ? p + 1 : p;
  p = digits;
  int value = 0;
  while (p < end && p - digits < 4 && is_digit(*p)) value = value * 10 + (*p++ - '0');
  if (p == end && !final) return Step::more;
  const auto count = p - digits;
  if (p == end || count == 0 || count > 3 || (count > 1 && *digits == '0')) return Step::broken;
  if (minus ? object_ || value == 0 || value > 128 : value > 255) return Step::broken;
  const int sign = minus ? -1 : value > 127 ? 1 : sign_;
  if (sign_ != 0 && sign != sign_) return Step::broken;
  const uint8_t* const tail = p;
  const bool comma = *p == ',';
  const int64_t space = read_space(comma ? p + 1 : p, end, final);
  if (space < 0) return Step::more;
  if (space > static_cast<int64_t>(kMaxSpace)) return Step::broken;
  p += space + (comma ? 1 : 0);
  if (p == end) return final ? Step::broken : Step::more;
  if (comma) {
    if (object_) {
      const Step step = read_quote(p, end, final);
      if (step != Step::full) return step;
      if (p == end) return final ? Step::broken : Step::more;
    }
    const std::string_view between = as_text(tail, p);
    if (!is_digit(*p) && (*p != '-' || object_)) return Step::broken;
    if (!separator_.empty() && between != separator_) return Step::broken;
    separator_ = between;
  } else {
    if (*p != (object_ ? '}' : ']')) return Step::broken;
    suffix_ = as_text(tail, ++p);
  }
  sign_ = sign;
  *out++ = static_cast<uint8_t>(minus ? -value : value);
  ++elements_;
  at = p;
  return comma ? Step::full : Step::closed;
}

std::string ByteArray::text_of(const std::string& source) const {
  if (!in_string_) return source;
  std::string undone;
  append_unescaped(undone, source);
  return undone;
}

Form ByteArray::form(bool closed) const {
  Form form;
  form.encoding = object_     ? Encoding::byte_object
                  : sign_ < 0 ? Encoding::signed_array
                              : Encoding::byte_array;
  form.prefix = text_of(prefix_);
  form.separator = text_of(separator_.empty() ? object_ ? ",\"" : "," : separator_);
  form.colon = text_of(colon_);
  form.suffix = closed ? text_of(suffix_) : std::string();
  return form;
}

}  // namespace sluice::gate

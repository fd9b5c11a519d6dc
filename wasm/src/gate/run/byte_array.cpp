#include "gate/run/byte_array.h"

#include "gate/run/token.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice::gate {

namespace {

constexpr size_t kBlock = 512;

}  // namespace

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

ByteArray::Step ByteArray::open(const uint8_t*& at, const uint8_t* end, bool final) {
  const int64_t space = read_space(at + 1, end, final);
  if (space < 0) return Step::more;
  if (space > static_cast<int64_t>(kMaxSpace)) return Step::broken;
  const auto size = static_cast<size_t>(space) + 1;
  if (at + size < end && !is_digit(at[size])) return Step::broken;
  prefix_ = as_text({at, size});
  at += size;
  source_ += size;
  return Step::full;
}

// Reads an element and what follows it: a separator and a digit, or the end of the array. An
// element is read only together with what shows that it is complete.
ByteArray::Step ByteArray::element(const uint8_t*& at, const uint8_t* end, bool final,
                                   uint8_t& byte) {
  const uint8_t* p = at;
  uint32_t value = 0;
  while (p < end && p - at < 4 && is_digit(*p)) value = value * 10 + (*p++ - '0');
  if (p == end && !final) return Step::more;
  const auto digits = p - at;
  if (p == end || digits == 0 || digits > 3 || value > 255 || (digits > 1 && *at == '0')) {
    return Step::broken;
  }
  const uint8_t* tail = p;
  const bool comma = *p == ',';
  const int64_t space = read_space(comma ? p + 1 : p, end, final);
  if (space < 0) return Step::more;
  if (space > static_cast<int64_t>(kMaxSpace)) return Step::broken;
  p += space + (comma ? 1 : 0);
  if (p == end) return final ? Step::broken : Step::more;
  const std::string_view between = as_text(tail, p);
  if (comma) {
    if (!is_digit(*p) || (!separator_.empty() && between != separator_)) return Step::broken;
    separator_ = between;
  } else {
    if (*p != ']') return Step::broken;
    suffix_ = as_text(tail, p + 1);
    ++p;
  }
  byte = static_cast<uint8_t>(value);
  ++elements_;
  source_ += static_cast<size_t>(p - at);
  at = p;
  return comma ? Step::full : Step::closed;
}

ByteArray::Step ByteArray::lex(const uint8_t*& at, const uint8_t* end, bool final, size_t budget,
                               std::string& bytes) {
  if (prefix_.empty()) {
    const Step step = open(at, end, final);
    if (step != Step::full) return step;
  }
  // In blocks, since a string that grows by single bytes is slow in WebAssembly.
  uint8_t block[kBlock];
  size_t filled = 0;
  Step step = Step::full;
  while (step == Step::full && source_ < budget) {
    if (at == end) {
      step = final ? Step::broken : Step::more;
      break;
    }
    const size_t before = elements_;
    step = element(at, end, final, block[filled]);
    filled += elements_ - before;
    if (filled < kBlock) continue;
    bytes.append(reinterpret_cast<const char*>(block), filled);
    filled = 0;
  }
  bytes.append(reinterpret_cast<const char*>(block), filled);
  return step;
}

Form ByteArray::form(bool closed) const {
  Form form = form_;
  const auto text = [this](const std::string& source) {
    if (!in_string_) return source;
    std::string undone;
    append_unescaped(undone, source);
    return undone;
  };
  form.prefix = text(prefix_);
  form.separator = separator_.empty() ? "," : text(separator_);
  form.suffix = closed ? text(suffix_) : std::string();
  return form;
}

}  // namespace sluice::gate

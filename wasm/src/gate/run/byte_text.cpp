#include "gate/run/byte_text.h"

#include <algorithm>

#include "gate/run/token.h"
#include "json/scan.h"
#include "sluice/codec.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice::gate {

// --- Latin-1 -----------------------------------------------------------------------------------

ByteReader::Step Latin1::element(const uint8_t*& at, const uint8_t* end, bool final,
                                 uint8_t*& out) {
  if (*at == '"') return Step::closed;
  size_t size = 1;
  if (*at == '\\') size = escape_bytes(at, end);
  if (*at >= 0x80) size = (*at & 0xFE) != 0xC2 ? 0 : end - at < 2 ? 0 : 2;
  if (size == 0) {
    const bool cut = *at == '\\' ? end - at < static_cast<ptrdiff_t>(kMaxEscape) : end - at < 2;
    return cut && !final ? Step::more : Step::broken;
  }
  std::string text;
  if (*at >= 0x80 && (at[1] & 0xC0) != 0x80) return Step::broken;
  if (size > 1) append_unescaped(text, as_text(at, at + size));
  const auto first = static_cast<uint8_t>(size > 1 ? text[0] : *at);
  if (first < 0x20 && size == 1) return Step::broken;
  if (text.size() > 2 || (text.size() == 2 && (first & 0xFE) != 0xC2)) return Step::broken;
  *out++ = text.size() == 2 ? static_cast<uint8_t>(first << 6 | (text[1] & 0x3F)) : first;
  at += size;
  return Step::full;
}

Form Latin1::form(bool) const {
  Form form;
  form.encoding = Encoding::latin1;
  return form;
}

// --- Python ------------------------------------------------------------------------------------

namespace {

constexpr std::string_view kByteArray = "bytearray(";

}  // namespace

// The quote, spelled `\"` if it is a double one: then it tells how deeply strings are nested.
ByteReader::Step PythonBytes::open(const uint8_t*& at, const uint8_t* end, bool final) {
  const bool calls = as_text(at, end).starts_with(kByteArray);
  const uint8_t* p = at + (calls ? kByteArray.size() : 0) + 1;
  if (p >= end) return final ? Step::broken : Step::more;
  const size_t slashes = count_backslashes(p, end);
  if (p + slashes == end) return final ? Step::broken : Step::more;
  quote_ = static_cast<char>(p[slashes]);
  if (quote_ == '"' ? slashes == 0 : quote_ != '\'' || slashes > 0) return Step::broken;
  if (quote_ == '"') slashes_ = slashes + 1;
  suffix_ = std::string(as_text(p, p + slashes + 1)) + (calls ? ")" : "");
  prefix_ = as_text(at, p + slashes + 1);
  at = p + slashes + 1;
  return Step::full;
}

ByteReader::Step PythonBytes::element(const uint8_t*& at, const uint8_t* end, bool final,
                                      uint8_t*& out) {
  const size_t slashes = count_backslashes(at, end);
  // Bytes that are backslashes may follow one another.
  const bool many = slashes_ > 0 && slashes >= 2 * slashes_;
  if (slashes > kMaxBackslashes && !many) return Step::broken;
  const uint8_t* p = at + slashes;
  const Step need = final ? Step::broken : Step::more;
  if (p == end && !many) return need;
  if (!many && *p == static_cast<uint8_t>(quote_) &&
      slashes == (quote_ == '"' ? slashes_ - 1 : 0)) {
    if (end - at < static_cast<ptrdiff_t>(suffix_.size())) return need;
    if (!as_text(at, end).starts_with(suffix_)) return Step::broken;
    at += suffix_.size();
    return Step::closed;
  }
  if (!many && *p == '"' && slashes == 0) return Step::broken;
  if (slashes > 0 && slashes_ == 0) slashes_ = *p == '"' ? slashes + 1 : slashes;
  uint8_t byte = many ? uint8_t{'\\'} : *p;
  if (!many && slashes > 0 && slashes == slashes_) {
    switch (*p) {
      case 'n':
        byte = '\n';
        break;
      case 'r':
        byte = '\r';
        break;
      case 't':
        byte = '\t';
        break;
      case 'x': {
        if (end - p < 3) return need;
        uint8_t digits[decoded_capacity(2)];
        if (decode({p + 1, 2}, Alphabet::hex, digits).written != 1) return Step::broken;
        byte = digits[0];
        break;
      }
      default:
        break;
    }
  }
  // There is one way to write each byte.
  std::string written;
  append_python(written, byte, quote_, slashes_);
  const auto size = static_cast<ptrdiff_t>(written.size());
  if (end - at < size) return need;
  if (as_text(at, at + size) != written) return Step::broken;
  *out++ = byte;
  at += size;
  return Step::full;
}

Form PythonBytes::form(bool closed) const {
  Form form;
  form.encoding = Encoding::python;
  form.separator.assign(std::max<size_t>(slashes_ / 2, 1), '\\');
  append_unescaped(form.prefix, prefix_);
  if (closed) append_unescaped(form.suffix, suffix_);
  return form;
}

// --- dumps -------------------------------------------------------------------------------------

namespace {

constexpr size_t kLine = 16;

// The bytes in the digits of a line.
size_t read_digits(std::string_view line, uint8_t* bytes) {
  size_t count = 0;
  for (; count < kLine; ++count) {
    const size_t at = kDumpDigits + count * 2 + count / 2;
    uint8_t byte[decoded_capacity(2)];
    if (decode(as_bytes(line.substr(at, 2)), Alphabet::hex, byte).written != 1) break;
    bytes[count] = byte[0];
  }
  return count;
}

}  // namespace

// A line with its end, if there is one, and the beginning of the next.
ByteReader::Step HexDump::element(const uint8_t*& at, const uint8_t* end, bool final,
                                  uint8_t*& out) {
  constexpr size_t kMostLine = kDumpText + kLine * kMaxBackslashes;
  constexpr size_t kLook = kMostLine + kMaxBackslashes + kDumpDigits;
  const std::string_view source = as_text(at, end).substr(0, kLook);
  const bool cut = !final && source.size() < kLook;
  const Step need = cut ? Step::more : Step::broken;
  if (source.size() < kDumpText) return need;
  uint8_t bytes[kLine];
  const size_t count = read_digits(source, bytes);
  if (count == 0) return Step::broken;
  for (size_t slashes = slashes_ > 0 ? slashes_ : 2; slashes <= kMaxBackslashes; slashes *= 2) {
    std::string line;
    append_dump_line(line, as_text({bytes, count}), offset_, slashes);
    const std::string feed = std::string(slashes / 2, '\\') + 'n';
    const std::string_view behind = source.substr(std::min(line.size(), source.size()));
    const bool fits = source.starts_with(line);
    if (fits && (behind.starts_with(feed) || slashes_ > 0)) {
      if (behind.size() <= feed.size() + kDumpDigits && cut) return Step::more;
      slashes_ = slashes;
      ends_line_ = behind.starts_with(feed);
      const std::string quote = std::string(slashes / 2 - 1, '\\') + '"';
      std::string next;
      append_dump_line(next, "", offset_ + kLine, slashes);
      const std::string_view begins = std::string_view(next).substr(0, kDumpDigits);
      const bool goes_on = count == kLine && ends_line_ &&
                           behind.substr(feed.size()).starts_with(begins) &&
                           behind.size() > feed.size() + kDumpDigits &&
                           is_hex_digit(behind[feed.size() + kDumpDigits]);
      // The end of the last line belongs to the text behind it, if there is one.
      ends_line_ = ends_line_ && (goes_on || behind.substr(feed.size()).starts_with(quote));
      std::copy_n(bytes, count, out);
      out += count;
      offset_ += count;
      at += line.size() + (ends_line_ ? feed.size() : 0);
      return goes_on ? Step::full : Step::closed;
    }
    if (slashes_ > 0) break;
  }
  return need;
}

Form HexDump::form(bool) const {
  Form form;
  form.encoding = Encoding::xxd;
  const size_t slashes = slashes_ / 4;
  form.separator = slashes == 0 ? "\n" : std::string(slashes, '\\') + 'n';
  if (ends_line_) form.suffix = form.separator;
  return form;
}

}  // namespace sluice::gate

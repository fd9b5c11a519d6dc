#include "layers/same_value.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "json/unescape.h"
#include "sluice/codec.h"

namespace sluice::layers {

namespace {

/// The longest escape of a code point in JSON.
constexpr size_t kLongestEscape = 12;

/// Text in which each marker is the name of its artifact: two runs of the same bytes are the same.
std::string with_ids(std::string_view text, const Ledger& ledger) {
  std::string out;
  size_t copied = 0;
  for (size_t at = text.find(kMarkerOpen); at != std::string_view::npos;
       at = text.find(kMarkerOpen, at + 1)) {
    const int32_t segment = marker_at(text, at);
    if (segment < 0 || static_cast<size_t>(segment) >= ledger.size()) continue;
    out += text.substr(copied, at + 1 - copied);
    out += ledger.id(static_cast<uint32_t>(segment));
    copied = at + kMarkerBytes - 1;
  }
  return out += text.substr(copied);
}

/// A number apart from how it is spelled: `12` and -1 of `1.20`. Exact whatever its length.
struct Number {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;

  bool operator==(const Number&) const = default;
};

Number number_of(std::string_view source) {
  Number number;
  int64_t written = 0;  // the exponent
  bool behind_point = false, behind_e = false, down = false;
  for (const char c : source) {
    const bool digit = c >= '0' && c <= '9';
    if (behind_e) {
      down = down || c == '-';
      if (digit && written < INT32_MAX) written = written * 10 + (c - '0');
    } else if (digit) {
      if (c != '0' || !number.digits.empty()) number.digits += c;
      number.exponent -= behind_point;
    }
    number.negative = number.negative || (c == '-' && !behind_e);
    behind_point = behind_point || c == '.';
    behind_e = behind_e || (c | 0x20) == 'e';
  }
  number.exponent += down ? -written : written;
  for (; number.digits.ends_with('0'); number.digits.pop_back()) ++number.exponent;
  return number.digits.empty() ? Number{} : number;
}

/// Two values of two documents.
class Comparison {
 public:
  Comparison(const Document& one, const Document& other, const Ledger& ledger)
      : one_(one), other_(other), ledger_(ledger) {}

  bool same(size_t node, size_t other) const {
    const Type type = one_.tape()[node].type;
    if (other_.tape()[other].type != type) return false;
    if (type == Type::array || type == Type::object) return same_children(node, other, type);
    const std::string_view source = one_.tape().source(node);
    const std::string_view others = other_.tape().source(other);
    if (type == Type::string) return text(one_, node) == text(other_, other);
    return source == others || (type == Type::number && number_of(source) == number_of(others));
  }

 private:
  bool same_children(size_t node, size_t other, Type type) const {
    const std::vector<uint32_t> children = one_.children(node);
    const std::vector<uint32_t> others = other_.children(other);
    if (children.size() != others.size()) return false;
    for (size_t at = 0; at < children.size(); ++at) {
      size_t match = others[at];
      if (type == Type::object) {
        // Mostly the order is the same too.
        const std::string key = one_.tape().string(children[at] - 1);
        if (!other_.tape().is_string(match - 1, key))
          match = other_.tape().find(other, key).value_or(0);
        if (match == 0) return false;
      }
      if (!same(children[at], match)) return false;
    }
    return true;
  }

  std::string text(const Document& document, size_t node) const {
    return with_ids(document.tape().string(node), ledger_);
  }

  const Document& one_;
  const Document& other_;
  const Ledger& ledger_;
};

bool is_hex(std::string_view digits) {
  return digits.size() == 4 && alphabet_span(as_bytes(digits), Alphabet::hex) == 4;
}

/// Length of the escape at the start of `source`, a pair of surrogates as one; 0 where it is cut.
size_t escape_length(std::string_view source) {
  if (source.size() < 2 || source[1] != 'u') return source.size() < 2 ? 0 : 2;
  if (source.size() < kLongestEscape) return 0;
  if (!is_hex(source.substr(2, 4))) return 2;
  return source[6] == '\\' && source[7] == 'u' && is_hex(source.substr(8, 4)) ? kLongestEscape : 6;
}

/// What may be JSON source, complete or cut anywhere, without white space between tokens and
/// without escapes in strings.
std::string squeezed(std::string_view source) {
  std::string out;
  bool inside = false;
  for (size_t at = 0; at < source.size();) {
    const char c = source[at];
    if (inside && c == '\\') {
      const size_t escape = escape_length(source.substr(at));
      if (escape == 0) return out;
      const std::string_view unit = source.substr(at, escape);
      unit == "\\u" ? out.append(unit) : (append_unescaped(out, unit), out);
      at += escape;
      continue;
    }
    if (c == '"') inside = !inside;
    if (inside || (c != ' ' && c != '\t' && c != '\n' && c != '\r')) out += c;
    ++at;
  }
  return out;
}

/// The beginning of a value's source, markers undone as far as their contents are known.
struct Beginning {
  std::string source;
  bool cut = false;
};

Beginning beginning_of(const Document& document, size_t value, const Ledger& ledger) {
  Beginning out;
  size_t copied = document.tape()[value].begin;
  for (const Mark& mark : document.marks(value)) {
    const Segment& segment = ledger.segment(mark.segment);
    if (segment.kind == SegmentKind::run) continue;
    const bool json = segment.kind == SegmentKind::json;
    out.source += document.text().substr(copied, mark.offset - copied);
    if (json) out.source.pop_back();
    json ? out.source.append(segment.preview)
         : (append_escaped(out.source, segment.preview, true), out.source);
    out.cut = true;
    return out;
  }
  out.source += document.text().substr(copied, document.tape()[value].end - copied);
  return out;
}

/// Whether a stored text and a value begin alike, as far as both are known.
bool begins_alike(const Segment& text, const Document& document, size_t value,
                  const Ledger& ledger) {
  const Beginning beginning = beginning_of(document, value, ledger);
  const std::string one = with_ids(squeezed(text.preview), ledger);
  const std::string other = with_ids(squeezed(beginning.source), ledger);
  // The text goes on behind what is known of it, so a value that ends before is another.
  if (!beginning.cut && other.size() < one.size()) return false;
  const size_t common = std::min(one.size(), other.size());
  return common > 0 && one.compare(0, common, other, 0, common) == 0;
}

}  // namespace

bool says_value(const Document& document, size_t text, size_t value, const Ledger& ledger) {
  const Tape& tape = document.tape();
  if (const std::optional<uint32_t> segment = document.whole(text)) {
    const std::optional<uint32_t> other = document.whole(value);
    if (other && ledger.id(*segment) == ledger.id(*other)) return true;
    const Segment& record = ledger.segment(*segment);
    const Type type = tape[value].type;
    const bool could = type == Type::object || type == Type::array || other;
    return could && record.kind == SegmentKind::text &&
           begins_alike(record, document, value, ledger);
  }
  const std::string said = tape.string(text);
  if (tape[value].type == Type::string &&
      with_ids(said, ledger) == with_ids(tape.string(value), ledger)) {
    return true;
  }
  Document inner;
  return inner.read(said, ledger.size()).ok() && Comparison(inner, document, ledger).same(0, value);
}

}  // namespace sluice::layers

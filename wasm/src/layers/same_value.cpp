#include "layers/same_value.h"

#include <string>
#include <string_view>
#include <vector>

#include "sluice/fingerprint.h"

namespace sluice::layers {

namespace {

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

/// The runs in a segment, those of what it refers to among them, as their artifacts.
void append_runs(uint32_t index, const Ledger& ledger, std::vector<std::string>& ids) {
  const Segment& segment = ledger.segment(index);
  if (segment.kind == SegmentKind::run) ids.push_back(ledger.id(index));
  for (const uint32_t inner : segment.inner) append_runs(inner, ledger, ids);
}

/// What is known of a text or a value whose source passed by.
struct Said {
  Fingerprint print;
  std::vector<std::string> runs;

  bool operator==(const Said&) const = default;
};

Said said_by(uint32_t segment, bool as_source, const Ledger& ledger) {
  const Segment& record = ledger.segment(segment);
  Said said{as_source ? record.source_print : record.content_print, {}};
  append_runs(segment, ledger, said.runs);
  return said;
}

Said said_by(const Document& document, size_t value, const Ledger& ledger) {
  Said said;
  SourcePrint print;
  size_t copied = document.tape()[value].begin;
  for (const Mark& mark : document.marks(value)) {
    print.push(document.text().substr(copied, mark.offset - copied));
    print.refer(ledger.segment(mark.segment));
    append_runs(mark.segment, ledger, said.runs);
    copied = mark.offset + kMarkerBytes;
  }
  print.push(document.text().substr(copied, document.tape()[value].end - copied));
  said.print = print.finish();
  return said;
}

/// Whether a text that was diverted whole is certainly the source of a value, or the same text.
bool stored_text_says(uint32_t text, const Document& document, size_t value, const Ledger& ledger) {
  if (const std::optional<uint32_t> other = document.whole(value)) {
    const bool stored = ledger.about(text).stored && ledger.about(*other).stored;
    if (stored && ledger.id(text) == ledger.id(*other)) return true;
    const Said content = said_by(text, false, ledger);
    if (content.print.length > 0 && content == said_by(*other, false, ledger)) return true;
  }
  const Said source = said_by(text, true, ledger);
  return source.print.length > 0 && source == said_by(document, value, ledger);
}

}  // namespace

bool says_value(const Document& document, size_t text, size_t value, const Ledger& ledger) {
  const Tape& tape = document.tape();
  if (const std::optional<uint32_t> segment = document.whole(text)) {
    return stored_text_says(*segment, document, value, ledger);
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

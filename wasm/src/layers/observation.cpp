#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "layers/blocks.h"
#include "layers/dialects.h"
#include "layers/result/document.h"
#include "layers/result/notes.h"
#include "layers/result/segment_table.h"
#include "sluice/segment.h"
#include "text/ascii.h"

namespace sluice::layers {

// --- whether a text says over again what a value says ----------------------------------------

namespace {

/// A text with the artifact id in place of each marker, so that two runs of the same bytes are
/// equal.
std::string with_ids(std::string_view text, const SegmentTable& table) {
  return replace_markers(text, [&](uint32_t segment) {
    std::string shown;
    append_marker(shown, segment);
    if (segment < table.size()) shown = kMarkerOpen + table.id(segment) + kMarkerClose;
    return shown;
  });
}

/// The value of a number, however it is spelled: digits `12` and exponent -1 for `1.20`. Exact for
/// any length.
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
    const bool digit = is_digit(c);
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

/// Compares values of two documents.
class Comparison {
 public:
  Comparison(const Document& one, const Document& other, const SegmentTable& table)
      : one_(one), other_(other), table_(table) {}

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
        // The order is usually the same.
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
    return with_ids(document.tape().string(node), table_);
  }

  const Document& one_;
  const Document& other_;
  const SegmentTable& table_;
};

/// Appends the artifact ids of the runs in a segment, including those in segments that it refers
/// to.
void append_runs(uint32_t index, const SegmentTable& table, std::vector<std::string>& ids) {
  const Segment& segment = table.segment(index);
  if (segment.kind == SegmentKind::run) ids.push_back(table.id(index));
  for (const uint32_t inner : segment.inner) append_runs(inner, table, ids);
}

/// What is known of a text or value whose source is gone.
struct Said {
  Fingerprint print;
  std::vector<std::string> runs;

  bool operator==(const Said&) const = default;
};

Said said_by(uint32_t segment, bool as_source, const SegmentTable& table) {
  const Segment& record = table.segment(segment);
  Said said{as_source ? record.source_print : record.content_print, {}};
  append_runs(segment, table, said.runs);
  return said;
}

Said said_by(const Document& document, size_t value, const SegmentTable& table) {
  Said said;
  SourcePrint print;
  size_t copied = document.tape()[value].begin;
  for (const Mark& mark : document.marks(value)) {
    print.push(document.text().substr(copied, mark.offset - copied));
    print.refer(table.segment(mark.segment));
    append_runs(mark.segment, table, said.runs);
    copied = mark.offset + kMarkerBytes;
  }
  print.push(document.text().substr(copied, document.tape()[value].end - copied));
  said.print = print.finish();
  return said;
}

/// Whether a fully diverted text is certainly the source of a value, or the same text.
bool stored_text_says(uint32_t text, const Document& document, size_t value,
                      const SegmentTable& table) {
  if (const std::optional<uint32_t> other = document.whole(value)) {
    const bool stored = table.about(text).stored && table.about(*other).stored;
    if (stored && table.id(text) == table.id(*other)) return true;
    const Said content = said_by(text, false, table);
    if (content.print.length > 0 && content == said_by(*other, false, table)) return true;
  }
  const Said source = said_by(text, true, table);
  return source.print.length > 0 && source == said_by(document, value, table);
}

/// Whether the text of a string node says the same as the node `value`: it parses to an equal
/// value, regardless of white space, key order and the spelling of numbers and strings; or `value`
/// is a string with that content. Markers are equal if their artifacts are. Where other parts were
/// diverted, as of a fully diverted text, they are equal only if both were spelled the same apart
/// from white space and escapes.
bool says_value(const Document& document, size_t text, size_t value, const SegmentTable& table) {
  const Tape& tape = document.tape();
  if (const std::optional<uint32_t> segment = document.whole(text)) {
    return stored_text_says(*segment, document, value, table);
  }
  const std::string said = tape.string(text);
  if (tape[value].type == Type::string &&
      with_ids(said, table) == with_ids(tape.string(value), table)) {
    return true;
  }
  Document inner;
  if (!inner.read(said, table.size()).ok()) return false;
  if (Comparison(inner, document, table).same(0, value)) return true;
  const Said source = said_by(inner, 0, table);
  return source.print.length > 0 && source == said_by(document, value, table);
}

}  // namespace

// Servers wrap a value that is no object as `{"result": …}`, and write a list as one text block per
// item.
std::vector<Repetition> texts_that_say_structure(const Document& document, const Shape& shape,
                                                 const SegmentTable& table) {
  std::vector<Repetition> found;
  if (!shape.structured || !shape.listed(document)) return found;
  const Tape& tape = document.tape();
  std::vector<uint32_t> blocks;
  std::vector<uint32_t> texts;
  for (const uint32_t block : document.children(*shape.list)) {
    const std::optional<size_t> text = tape.find(block, "text");
    if (!document.is_block(block, "text") || !text || tape[*text].type != Type::string) continue;
    blocks.push_back(block);
    texts.push_back(static_cast<uint32_t>(*text));
  }
  const size_t structured = *shape.structured;
  const size_t wrapped = tape.find(structured, "result").value_or(0);
  const bool wraps = wrapped != 0 && tape.count(structured) == 1;
  const auto says = [&](size_t text, size_t value) {
    return says_value(document, text, value, table);
  };
  const std::vector<uint32_t> items = document.children(wrapped);
  const bool are_items = wraps && !items.empty() &&
                         std::equal(texts.begin(), texts.end(), items.begin(), items.end(), says);
  for (size_t at = 0; at < blocks.size(); ++at) {
    if (are_items) {
      found.push_back({blocks[at], items[at]});
    } else if (says(texts[at], structured)) {
      found.push_back({blocks[at], structured});
    } else if (wraps && says(texts[at], wrapped)) {
      found.push_back({blocks[at], wrapped});
    }
  }
  return found;
}

// --- the observation -------------------------------------------------------------------------

namespace {

std::vector<uint32_t> blocks_of(const std::vector<Repetition>& repetitions) {
  std::vector<uint32_t> blocks;
  for (const Repetition& repetition : repetitions) blocks.push_back(repetition.block);
  return blocks;
}

}  // namespace

Observation::Observation(const Config& config, const Call& call, const Document& document,
                         const SegmentTable& table, const std::vector<std::string>& links)
    : config_(config),
      call_(call),
      document_(document),
      table_(table),
      links_(links),
      shape_(call.transformed ? Shape{} : shape_of(document, table.segments())),
      notes_(config, call, table, shape_.is_error),
      link_blocks_(links_of(document, shape_)),
      repeated_(blocks_of(texts_that_say_structure(document, shape_, table))) {}

std::string Observation::write() {
  switch (shape_.kind) {
    case Shape::Kind::result:
      return result();
    case Shape::Kind::blocks: {
      bool sole = false;
      return content_value(sole);
    }
    case Shape::Kind::contents:
      return contents();
    case Shape::Kind::error:
      return "{\"error\":" + whole(*document_.tape().find(0, "error")) + "}";
    default:
      return whole(shape_.body);
  }
}

std::string Observation::whole(size_t node) const {
  std::string out;
  append_showing(out, document_, node, notes_);
  return out;
}

std::string Observation::array(const std::vector<std::string>& items) const {
  std::string out = "[";
  for (const std::string& item : items) {
    if (out.size() > 1) out += ',';
    out += item;
  }
  out += ']';
  return out;
}

// --- a CallToolResult -------------------------------------------------------------------------

std::string Observation::result() {
  const Tape& tape = document_.tape();
  const bool blocks = shape_.list && (!shape_.listed(document_) || tape.count(*shape_.list) > 0);
  const bool structured =
      shape_.structured && (tape[*shape_.structured].type != Type::null || !blocks);
  if (structured && (config_.prefer == Prefer::structured || !blocks)) return structured_half();
  return content_half();
}

std::string Observation::structured_half() {
  const std::vector<std::string> beside = blocks_beside(*shape_.structured);
  std::string structured = whole(*shape_.structured);
  const std::string others = other_members();
  if (beside.empty() && others.empty() && !shape_.is_error) return structured;
  Object out = head();
  out.source("structured", structured);
  if (!beside.empty()) out.source("content", array(beside));
  return out.end(others);
}

std::string Observation::content_half() {
  bool sole = false;
  std::string content = content_value(sole);
  const std::string others = other_members();
  std::string structured;
  if (shape_.structured && repeated_.empty() && !says_nothing(*shape_.structured)) {
    structured = whole(*shape_.structured);
  }
  if (sole && others.empty() && structured.empty() && !shape_.is_error) return content;
  Object out = head();
  out.source("content", content);
  if (!structured.empty()) out.source("structured", structured);
  return out.end(others);
}

Object Observation::head() const {
  Object out;
  if (shape_.is_error) out.flag("isError", true);
  return out;
}

// Leaves out `_meta`, which is for programs, and `resultType` if it is `complete`.
std::string Observation::other_members() const {
  constexpr std::array<std::string_view, 3> kKnown = {"content", "structuredContent", "isError"};
  const Tape& tape = document_.tape();
  const bool contents = shape_.kind == Shape::Kind::contents;
  std::string out;
  for (const size_t value : document_.children(shape_.body)) {
    const std::string key = tape.string(value - 1);
    const bool known = contents ? key == "contents"
                                : std::find(kKnown.begin(), kKnown.end(), key) != kKnown.end() &&
                                      (key != "content" || shape_.list);
    if (known || key == "_meta") continue;
    if (key == "resultType" && tape.is_string(value, "complete")) continue;
    out += ',';
    append_member(out, document_, value, notes_);
  }
  return out;
}

// --- blocks -----------------------------------------------------------------------------------

std::string Observation::content_value(bool& sole) {
  if (!shape_.listed(document_)) {
    sole = true;
    return shape_.list ? whole(*shape_.list) : "[]";
  }
  const std::vector<uint32_t> blocks = document_.children(*shape_.list);
  const std::vector<uint32_t> texts = texts_of(document_, shape_);
  if (blocks.size() == 1 && texts.size() == 1) {
    sole = true;
    Document inner;
    if (!read_json_text(document_, texts[0], table_.size(), inner)) return whole(texts[0]);
    std::string out;
    append_showing(out, inner, 0, notes_);
    return out;
  }
  std::vector<std::string> items;
  items.reserve(blocks.size());
  for (const size_t block : blocks) items.push_back(show(block));
  return array(items);
}

std::string Observation::show(size_t block) {
  const auto link = std::find(link_blocks_.begin(), link_blocks_.end(), block);
  if (link != link_blocks_.end() && config_.resources.enabled) {
    const auto number = static_cast<size_t>(link - link_blocks_.begin());
    const std::string none;
    return show_link(document_, block, notes_, call_.name_space,
                     number < links_.size() ? links_[number] : none);
  }
  return show_block(document_, block, notes_, table_, config_.max_inline_size);
}

std::vector<std::string> Observation::blocks_beside(size_t half) {
  std::vector<std::string> items;
  if (!shape_.list) return items;
  const Ids ids = ids_in(half);
  if (!shape_.listed(document_)) {
    if (adds_to(*shape_.list, ids)) items.push_back(whole(*shape_.list));
    return items;
  }
  for (const size_t block : document_.children(*shape_.list)) {
    if (!repeats(block, ids)) items.push_back(show(block));
  }
  return items;
}

// The specification asks servers to repeat the structured half as text.
bool Observation::repeats(size_t block, const Ids& ids) const {
  if (std::find(repeated_.begin(), repeated_.end(), block) != repeated_.end()) return true;
  return load_of_block(document_, block) && !adds_to(block, ids);
}

bool Observation::says_nothing(size_t node) const {
  const Type type = document_.tape()[node].type;
  return type == Type::null ||
         ((type == Type::object || type == Type::array) && document_.tape().count(node) == 0);
}

// --- artifacts by their ids -------------------------------------------------------------------

Observation::Ids Observation::ids_in(size_t node) const {
  Ids ids;
  for (const Mark& mark : document_.marks(node)) ++ids[table_.id(mark.segment)];
  return ids;
}

// Whether a value has an artifact that is not in `ids`.
bool Observation::adds_to(size_t node, const Ids& ids) const {
  const std::span<const Mark> marks = document_.marks(node);
  return std::any_of(marks.begin(), marks.end(),
                     [&](const Mark& mark) { return ids.count(table_.id(mark.segment)) == 0; });
}

// --- resources/read ---------------------------------------------------------------------------

std::string Observation::contents() {
  std::string list;
  if (shape_.listed(document_)) {
    std::vector<std::string> items;
    for (const size_t entry : document_.children(*shape_.list)) {
      items.push_back(show_resource(document_, entry, notes_, config_.max_inline_size));
    }
    list = array(items);
  } else {
    list = whole(*shape_.list);
  }
  return Object().source("contents", list).end(other_members());
}

}  // namespace sluice::layers

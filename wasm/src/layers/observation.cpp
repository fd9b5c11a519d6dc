#include "layers/observation.h"

#include <algorithm>
#include <array>

#include "layers/json_text.h"
#include "layers/links.h"
#include "layers/same_value.h"
#include "layers/splicer.h"

namespace sluice::layers {

Observation::Observation(const Config& config, const Call& call, const Document& document,
                         const Ledger& ledger, const std::vector<std::string>& links)
    : config_(config),
      call_(call),
      document_(document),
      ledger_(ledger),
      links_(links),
      notes_(config, call, ledger),
      media_(config, call),
      shape_(call.transformed ? Shape{} : shape_of(document, ledger.segments())),
      link_blocks_(links_of(document, shape_)),
      repeated_(texts_that_say_structure()) {}

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
  if (beside.empty() && others.empty() && !is_error()) return structured;
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
  if (sole && others.empty() && structured.empty() && !is_error()) return content;
  Object out = head();
  out.source("content", content);
  if (!structured.empty()) out.source("structured", structured);
  return out.end(others);
}

Object Observation::head() const {
  Object out;
  if (is_error()) out.flag("isError", true);
  return out;
}

bool Observation::is_error() const {
  const std::optional<size_t> flag = document_.tape().find(shape_.body, "isError");
  return flag && document_.tape().source(*flag) == "true";
}

// `_meta` is for programs, and `resultType` says nothing where it says `complete`.
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
    if (!read_json_text(document_, texts[0], ledger_.size(), inner)) return whole(texts[0]);
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
  return show_block(document_, block, notes_, ledger_, media_);
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

// The specification asks servers to say the structured half again as text.
bool Observation::repeats(size_t block, const Ids& ids) const {
  if (std::find(repeated_.begin(), repeated_.end(), block) != repeated_.end()) return true;
  return load_of_block(document_, block) && !adds_to(block, ids);
}

bool Observation::says_nothing(size_t node) const {
  const Type type = document_.tape()[node].type;
  return type == Type::null ||
         ((type == Type::object || type == Type::array) && document_.tape().count(node) == 0);
}

// A value that is no object is wrapped by servers as `{"result": …}`, and a list is told as a text
// for each item.
std::vector<uint32_t> Observation::texts_that_say_structure() const {
  std::vector<uint32_t> blocks;
  if (!shape_.structured || !shape_.listed(document_)) return blocks;
  const Tape& tape = document_.tape();
  std::vector<uint32_t> texts;
  for (const uint32_t block : document_.children(*shape_.list)) {
    const std::optional<size_t> text = tape.find(block, "text");
    if (!document_.is_block(block, "text") || !text || tape[*text].type != Type::string) continue;
    blocks.push_back(block);
    texts.push_back(static_cast<uint32_t>(*text));
  }
  const size_t structured = *shape_.structured;
  const size_t wrapped = tape.find(structured, "result").value_or(0);
  const bool wraps = wrapped != 0 && tape.count(structured) == 1;
  const auto says = [&](size_t text, size_t value) {
    return says_value(document_, text, value, ledger_);
  };
  const std::vector<uint32_t> items = document_.children(wrapped);
  if (wraps && !items.empty() &&
      std::equal(texts.begin(), texts.end(), items.begin(), items.end(), says)) {
    return blocks;
  }
  std::vector<uint32_t> found;
  for (size_t at = 0; at < blocks.size(); ++at) {
    if (says(texts[at], structured) || (wraps && says(texts[at], wrapped))) {
      found.push_back(blocks[at]);
    }
  }
  return found;
}

// --- artifacts by their ids -------------------------------------------------------------------

Observation::Ids Observation::ids_in(size_t node) const {
  Ids ids;
  for (const Mark& mark : document_.marks(node)) ++ids[ledger_.id(mark.segment)];
  return ids;
}

// Whether a value has an artifact that is not among `ids`.
bool Observation::adds_to(size_t node, const Ids& ids) const {
  const std::span<const Mark> marks = document_.marks(node);
  return std::any_of(marks.begin(), marks.end(),
                     [&](const Mark& mark) { return ids.count(ledger_.id(mark.segment)) == 0; });
}

// --- resources/read ---------------------------------------------------------------------------

std::string Observation::contents() {
  std::string list;
  if (shape_.listed(document_)) {
    std::vector<std::string> items;
    for (const size_t entry : document_.children(*shape_.list)) {
      items.push_back(show_resource(document_, entry, notes_));
    }
    list = array(items);
  } else {
    list = whole(*shape_.list);
  }
  return Object().source("contents", list).end(other_members());
}

}  // namespace sluice::layers

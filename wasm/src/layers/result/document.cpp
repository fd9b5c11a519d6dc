#include "layers/result/document.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "text/ascii.h"

namespace sluice::layers {

// --- the text --------------------------------------------------------------------------------

Status Document::read(std::string text, size_t segments) {
  text_ = std::move(text);
  marks_.clear();
  Status status = Tape::parse(text_, tape_);
  if (!status.ok()) return status;
  for (size_t at = text_.find(kMarkerOpen); at != std::string::npos;
       at = text_.find(kMarkerOpen, at + kMarkerBytes)) {
    const int32_t segment = marker_at(text_, at);
    if (segment < 0 || static_cast<size_t>(segment) >= segments) {
      return {Code::misuse, 0, 0, {}, "A marker names a segment that does not exist."};
    }
    marks_.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(segment)});
  }
  return {};
}

std::span<const Mark> Document::marks(size_t begin, size_t end) const {
  const auto before = [](const Mark& mark, size_t offset) { return mark.offset < offset; };
  const auto first = std::lower_bound(marks_.begin(), marks_.end(), begin, before);
  const auto last = std::lower_bound(first, marks_.end(), end, before);
  return std::span(marks_).subspan(static_cast<size_t>(first - marks_.begin()),
                                   static_cast<size_t>(last - first));
}

std::span<const Mark> Document::marks(size_t node) const {
  return marks(tape_[node].begin, tape_[node].end);
}

std::optional<uint32_t> Document::whole(size_t node) const {
  const Node& string = tape_[node];
  if (string.type != Type::string || string.end - string.begin != kMarkerBytes + 2) {
    return std::nullopt;
  }
  const std::span<const Mark> found = marks(node);
  if (found.empty()) return std::nullopt;
  return found.front().segment;
}

std::optional<uint32_t> Document::only(size_t node) const {
  const std::span<const Mark> found = marks(node);
  if (tape_[node].type != Type::string || found.size() != 1) return std::nullopt;
  const std::string value = tape_.string(node);
  const size_t first = value.find_first_not_of(kWhite);
  if (marker_at(value, first) < 0 ||
      value.find_first_not_of(kWhite, first + kMarkerBytes) != std::string::npos) {
    return std::nullopt;
  }
  return found.front().segment;
}

size_t Document::string_around(size_t offset) const {
  // Nodes are in source order and a string contains no other node, so it is the last node that
  // begins before the offset.
  size_t first = 0;
  size_t last = tape_.size();
  while (last - first > 1) {
    const size_t middle = first + (last - first) / 2;
    (tape_[middle].begin < offset ? first : last) = middle;
  }
  return first;
}

std::string_view Document::inside(size_t node) const {
  const std::string_view quoted = tape_.source(node);
  return quoted.substr(1, quoted.size() - 2);
}

std::vector<uint32_t> Document::children(size_t node) const {
  std::vector<uint32_t> found;
  const Type type = tape_[node].type;
  if (type != Type::array && type != Type::object) return found;
  const size_t key = type == Type::object ? 1 : 0;
  for (size_t at = node + 1 + key; at < tape_[node].next; at = tape_[at].next + key) {
    found.push_back(static_cast<uint32_t>(at));
  }
  return found;
}

bool Document::is_block(size_t node, std::string_view name) const {
  const std::optional<size_t> type = tape_.find(node, "type");
  return type && tape_.is_string(*type, name);
}

// --- JSON that stands in a string ------------------------------------------------------------

namespace {

/// Whether a text holds a surrogate, which WTF-8 writes as ED A0…BF.
bool has_surrogate(std::string_view text) {
  for (size_t at = text.find('\xED'); at != std::string_view::npos;
       at = text.find('\xED', at + 1)) {
    if (at + 1 < text.size() && static_cast<uint8_t>(text[at + 1]) >= 0xA0) return true;
  }
  return false;
}

}  // namespace

bool read_json_text(const Document& document, size_t node, size_t segments, Document& inner) {
  const std::string_view source = document.inside(node);
  // White space may be escaped. Any other escape cannot begin an array or object.
  const size_t first = source.find_first_not_of(" \\ntr\t");
  if (first == std::string_view::npos || (source[first] != '{' && source[first] != '['))
    return false;
  std::string text = document.tape().string(node);
  if (has_surrogate(text) || !inner.read(std::move(text), segments).ok()) return false;
  const Type type = inner.tape()[0].type;
  return type == Type::array || type == Type::object;
}

// --- the kind of result ----------------------------------------------------------------------

namespace {

constexpr std::array<std::string_view, 7> kBlockTypes = {
    "text", "image", "audio", "resource", "resource_link", "tool_use", "tool_result"};

bool is_collapsed(const Document& document, const std::vector<Segment>& segments, size_t node) {
  const std::optional<uint32_t> segment = document.whole(node);
  return segment && segments[*segment].kind == SegmentKind::json;
}

bool is_collapsed_array(const Document& document, const std::vector<Segment>& segments,
                        size_t node) {
  return is_collapsed(document, segments, node) && was_array(segments[*document.whole(node)]);
}

bool has_known_type(const Document& document, size_t node) {
  return std::any_of(kBlockTypes.begin(), kBlockTypes.end(),
                     [&](std::string_view type) { return document.is_block(node, type); });
}

/// The `content` of a CallToolResult. Block types of later revisions count too, and blocks may be
/// collapsed.
bool is_content(const Document& document, const std::vector<Segment>& segments, size_t node) {
  if (document.tape()[node].type != Type::array) {
    return is_collapsed_array(document, segments, node);
  }
  for (const size_t block : document.children(node)) {
    if (is_collapsed(document, segments, block)) continue;
    const std::optional<size_t> type = document.tape().find(block, "type");
    if (!type || document.tape()[*type].type != Type::string) return false;
  }
  return true;
}

/// A bare array counts as blocks only if it knows all their types.
bool are_blocks(const Document& document, size_t node) {
  if (document.tape()[node].type != Type::array) return false;
  const std::vector<uint32_t> blocks = document.children(node);
  return !blocks.empty() && std::all_of(blocks.begin(), blocks.end(), [&](size_t block) {
    return has_known_type(document, block);
  });
}

bool are_contents(const Document& document, const std::vector<Segment>& segments, size_t node) {
  const Tape& tape = document.tape();
  if (tape[node].type != Type::array) return is_collapsed_array(document, segments, node);
  const std::vector<uint32_t> entries = document.children(node);
  return !entries.empty() && std::all_of(entries.begin(), entries.end(), [&](size_t entry) {
    return is_collapsed(document, segments, entry) ||
           (tape.find(entry, "uri") && (tape.find(entry, "text") || tape.find(entry, "blob")));
  });
}

void open_envelope(const Document& document, Shape& shape) {
  const Tape& tape = document.tape();
  if (!tape.find(0, "jsonrpc")) return;
  if (const std::optional<size_t> result = tape.find(0, "result")) {
    shape.envelope = true;
    shape.body = *result;
  } else if (tape.find(0, "error")) {
    shape.envelope = true;
    shape.kind = Shape::Kind::error;
  }
}

}  // namespace

bool was_array(const Segment& segment) {
  const size_t first = segment.preview.find_first_not_of(kWhite);
  return first != std::string::npos && segment.preview[first] == '[';
}

Shape shape_of(const Document& document, const std::vector<Segment>& segments) {
  Shape shape;
  open_envelope(document, shape);
  if (shape.kind == Shape::Kind::error) return shape;

  const Tape& tape = document.tape();
  if (is_collapsed(document, segments, shape.body)) {
    if (!is_collapsed_array(document, segments, shape.body)) shape.kind = Shape::Kind::collapsed;
    return shape;
  }
  if (are_blocks(document, shape.body)) {
    shape.kind = Shape::Kind::blocks;
    shape.list = shape.body;
    return shape;
  }
  const std::optional<size_t> content = tape.find(shape.body, "content");
  const std::optional<size_t> contents = tape.find(shape.body, "contents");
  shape.structured = tape.find(shape.body, "structuredContent");
  const std::optional<size_t> flag = tape.find(shape.body, "isError");
  shape.is_error = flag && tape.source(*flag) == "true";
  if (content && is_content(document, segments, *content)) {
    shape.kind = Shape::Kind::result;
    shape.list = content;
  } else if (shape.structured) {
    shape.kind = Shape::Kind::result;
  } else if (contents && are_contents(document, segments, *contents)) {
    shape.kind = Shape::Kind::contents;
    shape.list = contents;
  }
  return shape;
}

std::vector<uint32_t> texts_of(const Document& document, const Shape& shape) {
  std::vector<uint32_t> texts;
  if (shape.kind != Shape::Kind::result && shape.kind != Shape::Kind::blocks) return texts;
  if (!shape.listed(document)) return texts;
  for (const size_t block : document.children(*shape.list)) {
    if (!document.is_block(block, "text")) continue;
    const std::optional<size_t> text = document.tape().find(block, "text");
    if (text && document.tape()[*text].type == Type::string) {
      texts.push_back(static_cast<uint32_t>(*text));
    }
  }
  return texts;
}

}  // namespace sluice::layers

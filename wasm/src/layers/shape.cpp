#include "layers/shape.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice::layers {

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

/// Blocks of a CallToolResult: types of later revisions are blocks too, and blocks may be
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

/// Blocks that stand alone are taken for blocks only when their types are known.
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
  const size_t first = segment.preview.find_first_not_of(" \t\r\n");
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

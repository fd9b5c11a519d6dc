// What kind of result a document is (MCP 2025-11-25, "Tool Result" and "Reading Resources").
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "layers/document.h"

namespace sluice::layers {

/// The parts of a result by their nodes.
struct Shape {
  enum class Kind : uint8_t {
    result,     ///< a CallToolResult
    blocks,     ///< an array of content blocks
    contents,   ///< the result of `resources/read`
    collapsed,  ///< a whole object that was diverted, so that nothing of it is seen
    error,      ///< a JSON-RPC error response
    value,      ///< any other JSON value
  };
  Kind kind = Kind::value;
  bool envelope = false;             ///< a JSON-RPC response holds the body
  size_t body = 0;                   ///< the result itself; for `error` the whole response
  std::optional<size_t> list;        ///< `content`, `contents` or the array of blocks
  std::optional<size_t> structured;  ///< `structuredContent`

  /// Whether `list` is an array, not a collapsed one.
  bool listed(const Document& document) const {
    return list && document.tape()[*list].type == Type::array;
  }
};

/// Tells the shape of a document. `segments` tells what its markers stand for.
Shape shape_of(const Document& document, const std::vector<Segment>& segments);

/// Whether a collapsed sub-tree was an array (or else an object), from its preview.
bool was_array(const Segment& segment);

/// The texts of the text blocks of a result or of an array of blocks: the nodes of their `text`.
std::vector<uint32_t> texts_of(const Document& document, const Shape& shape);

}  // namespace sluice::layers

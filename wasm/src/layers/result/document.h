// A reduced JSON text with its tape and its markers, and the kind of result it holds (MCP
// 2025-11-25, "Tool Result" and "Reading Resources").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/segment.h"
#include "sluice/status.h"
#include "sluice/tape.h"

namespace sluice::layers {

/// The position of a marker and the segment it stands for.
struct Mark {
  uint32_t offset = 0;
  uint32_t segment = 0;
};

/// A parsed text. Cannot be moved, because the tape points into the text.
class Document {
 public:
  Document() = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  /// Parses one JSON value. Fails with json_* codes, or with `misuse` if a marker names a segment
  /// at or above `segments`.
  Status read(std::string text, size_t segments);

  std::string_view text() const { return text_; }
  const Tape& tape() const { return tape_; }

  /// The markers in `text[begin, end)`, in order.
  std::span<const Mark> marks(size_t begin, size_t end) const;
  std::span<const Mark> marks(size_t node) const;

  /// The segment of a string node that is exactly one marker.
  std::optional<uint32_t> whole(size_t node) const;

  /// The segment of a string node that is one marker, possibly with white space around it.
  std::optional<uint32_t> only(size_t node) const;

  /// The string node that contains an offset.
  size_t string_around(size_t offset) const;

  /// A string's source without its quotes.
  std::string_view inside(size_t node) const;

  /// The child nodes of a container: the elements of an array, or the values of an object (each key
  /// is the node before its value).
  std::vector<uint32_t> children(size_t node) const;

  /// Whether a node is an object whose `type` is `name`.
  bool is_block(size_t node, std::string_view name) const;

 private:
  std::string text_;
  Tape tape_;
  std::vector<Mark> marks_;
};

/// Parses the object or array that a string node holds as text. False if it holds neither, or if it
/// holds lone surrogates, which JSON text cannot carry.
bool read_json_text(const Document& document, size_t node, size_t segments, Document& inner);

/// The kind of a result and the nodes of its parts.
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

  /// Whether `list` is still an array, not a marker.
  bool listed(const Document& document) const {
    return list && document.tape()[*list].type == Type::array;
  }

  /// Whether the tool failed (`isError`).
  bool is_error(const Document& document) const {
    const std::optional<size_t> flag = document.tape().find(body, "isError");
    return flag && document.tape().source(*flag) == "true";
  }
};

/// Finds out the kind of result. `segments` are the records that the markers refer to.
Shape shape_of(const Document& document, const std::vector<Segment>& segments);

/// Whether a collapsed sub-tree was an array rather than an object. Reads its preview.
bool was_array(const Segment& segment);

/// The `text` nodes of all text blocks in a result or an array of blocks.
std::vector<uint32_t> texts_of(const Document& document, const Shape& shape);

}  // namespace sluice::layers

// The tape: an index of a JSON text in memory. Tokens with offsets; no value is copied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/status.h"

namespace sluice {

enum class Type : uint8_t { null, boolean, number, string, array, object };

/// Deepest nesting that a tape follows unless it is told otherwise: what the gate lets through, and
/// what is written around it.
inline constexpr size_t kMaxTapeDepth = 640;

/// One value. Children of a container follow it directly in the vector, in source order; an
/// object's children alternate key (a string node), value. `next` is the index behind the whole
/// sub-tree.
struct Node {
  Type type = Type::null;
  uint32_t begin = 0;  ///< offset of the first byte of source (a string's is its quote)
  uint32_t end = 0;    ///< offset behind the last byte of source
  uint32_t next = 0;
};

/// An index over `text`, which must outlive it.
class Tape {
 public:
  /// Reads one JSON value with white space around it, strictly by RFC 8259: UTF-8 without a byte
  /// order mark, numbers of at most 65,536 characters. Escapes of lone surrogates and duplicate
  /// keys are allowed; markers (sluice/segment.h) inside strings when `markers`. Texts up to 4 GiB
  /// and 2^25 values. Fails with json_* codes or too_large, line and column.
  static Status parse(std::string_view text, Tape& tape, size_t max_depth = kMaxTapeDepth,
                      bool markers = true);

  const Node& operator[](size_t index) const { return nodes_[index]; }
  size_t size() const { return nodes_.size(); }
  std::string_view text() const { return text_; }

  /// The source of a value, quotes and all.
  std::string_view source(size_t index) const;

  /// A string's value with its escapes undone, as UTF-8; lone surrogates as three-byte sequences
  /// (WTF-8). Markers stay as they are.
  std::string string(size_t index) const;

  /// Whether the node is a string whose value equals `value`.
  bool is_string(size_t index, std::string_view value) const;

  /// The value under `key` in an object (the last of duplicates); nothing when absent or no object.
  std::optional<size_t> find(size_t object, std::string_view key) const;

  /// Number of elements of an array, or of members of an object.
  size_t count(size_t container) const;

 private:
  std::string_view text_;
  std::vector<Node> nodes_;
};

/// Appends `text` (UTF-8 or WTF-8) to `out` as the inside of a JSON string: quotes, backslashes and
/// control characters escaped, lone surrogates as \uXXXX, other bytes as they are. Markers stay as
/// they are when `markers`.
void append_escaped(std::string& out, std::string_view text, bool markers = false);

/// Code points of a text (bytes that are not UTF-8 continuation bytes).
size_t count_chars(std::string_view text);

/// One replacement of `text[begin, end)` by `with`.
struct Splice {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::string with;
};

/// Applies splices, which must not overlap; they are sorted first.
std::string apply_splices(std::string_view text, std::vector<Splice> splices);

}  // namespace sluice

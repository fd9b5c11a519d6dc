// A reduced JSON text, its tape and the places of its markers.
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

/// Where the marker of a segment stands.
struct Mark {
  uint32_t offset = 0;
  uint32_t segment = 0;
};

/// Owns the text that its tape indexes; so it stays where it is.
class Document {
 public:
  Document() = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  /// Reads one JSON value. Fails with json_* codes, or with `misuse` when a marker names a segment
  /// at or above `segments`.
  Status read(std::string text, size_t segments);

  std::string_view text() const { return text_; }
  const Tape& tape() const { return tape_; }

  /// The markers in `text[begin, end)`, in order.
  std::span<const Mark> marks(size_t begin, size_t end) const;
  std::span<const Mark> marks(size_t node) const;

  /// The segment whose marker is the whole of a string node.
  std::optional<uint32_t> whole(size_t node) const;

  /// The segment whose marker is all of a string node but for white space.
  std::optional<uint32_t> only(size_t node) const;

  /// The node of the string that an offset lies in.
  size_t string_around(size_t offset) const;

  /// A string's source without its quotes.
  std::string_view inside(size_t node) const;

  /// The children of a container: element indexes, or for an object the indexes of its values (a
  /// key stands one before its value).
  std::vector<uint32_t> children(size_t node) const;

  /// Whether a node is an object whose `type` is `name`.
  bool is_block(size_t node, std::string_view name) const;

 private:
  std::string text_;
  Tape tape_;
  std::vector<Mark> marks_;
};

}  // namespace sluice::layers

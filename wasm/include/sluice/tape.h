// The tape: an index of a JSON text in memory. It holds tokens with offsets and copies no value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/status.h"

namespace sluice {

enum class Type : uint8_t { null, boolean, number, string, array, object };

/// The default depth limit of a tape: what the gate lets through, plus what is written around it.
inline constexpr size_t kMaxTapeDepth = 640;

/// One value. The children of a container follow it directly in source order; the children of an
/// object alternate between key (a string node) and value. `next` is the index after the whole
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
  /// order mark, numbers of at most 65,536 characters. Allows escaped lone surrogates and duplicate
  /// keys, and with `markers` also markers (sluice/segment.h) inside strings. At most 4 GiB and
  /// 2^25 values. Fails with json_* codes or too_large, with line and column.
  static Status parse(std::string_view text, Tape& tape, size_t max_depth = kMaxTapeDepth,
                      bool markers = true);

  const Node& operator[](size_t index) const { return nodes_[index]; }
  size_t size() const { return nodes_.size(); }
  std::string_view text() const { return text_; }

  /// The source of a value, with its quotes.
  std::string_view source(size_t index) const;

  /// A string's value, unescaped, as UTF-8. Lone surrogates become three bytes (WTF-8); markers
  /// stay.
  std::string string(size_t index) const;

  /// Whether the node is a string whose value equals `value`.
  bool is_string(size_t index, std::string_view value) const;

  /// The value under `key` in an object (the last of duplicates). Empty if there is none or it is
  /// no object.
  std::optional<size_t> find(size_t object, std::string_view key) const;

  /// Number of elements of an array, or of members of an object.
  size_t count(size_t container) const;

 private:
  std::string_view text_;
  std::vector<Node> nodes_;
};

/// Takes one byte for each node up to the last one in it.
class NodeSet {
 public:
  /// Inserts a node. Returns whether it was new.
  bool insert(size_t node) {
    if (node >= nodes_.size()) nodes_.resize(node + 1);
    const bool fresh = nodes_[node] == 0;
    nodes_[node] = 1;
    return fresh;
  }
  void erase(size_t node) {
    if (has(node)) nodes_[node] = 0;
  }
  bool has(size_t node) const { return node < nodes_.size() && nodes_[node] != 0; }

 private:
  std::vector<uint8_t> nodes_;
};

/// Appends `text` (UTF-8 or WTF-8) to `out` as the inside of a JSON string: escapes quotes,
/// backslashes and control characters, writes lone surrogates as \uXXXX, and leaves other bytes as
/// they are. With `markers`, markers stay as they are.
void append_escaped(std::string& out, std::string_view text, bool markers = false);

/// The UTF-16 code unit in the four hexadecimal digits at `at`.
uint32_t hex4(const char* at);

/// Appends `inside` (valid string source without quotes) unescaped, as UTF-8. A pair of escaped
/// surrogates becomes one code point, a lone one three bytes (WTF-8).
void append_unescaped(std::string& out, std::string_view inside);

/// The same into room for as many bytes as `inside` has. Returns the end of what was written.
char* write_unescaped(char* to, std::string_view inside);

/// The number of code points in a text (bytes that are not UTF-8 continuation bytes).
size_t count_chars(std::string_view text);

/// One replacement of `text[begin, end)` by `with`.
struct Splice {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::string with;
};

/// Applies splices, in any order. They must not overlap.
std::string apply_splices(std::string_view text, std::vector<Splice> splices);

/// The indexes of `keys` in ascending order of keys. Equal keys keep their order. At most 2^32 - 1
/// keys. There is one instance for all that is sorted stably by number, because std::stable_sort
/// takes a kilobyte for every type.
std::vector<uint32_t> order_of(const std::vector<uint64_t>& keys);

}  // namespace sluice

// One object of the contract: its members checked, and written anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "json/object.h"
#include "sluice/tape.h"

namespace sluice::files {

/// What was left out of a contract, and by which rule.
class Dropped {
 public:
  /// `field` is a path such as `artifacts[2].mime`, `rule` goes on behind it: `must be …`.
  void add(std::string_view field, std::string_view rule);

  /// `{"count":2,"fields":[{"field":…,"rule":…},…]}`, of which the first sixteen are listed; empty
  /// where nothing was left out.
  std::string json() const;

 private:
  size_t count_ = 0;
  std::string fields_;
};

/// How many characters a text may have.
struct Length {
  size_t least = 0;
  size_t most = 0;
};

/// `a string of 1 to 500 characters`
std::string string_of(Length length);

/// Where an element of an array stands: `artifacts[2]`.
std::string element_path(std::string_view path, size_t index);

/// Whether a node is an object, or the reference that stands for one.
bool is_object(const Tape& tape, size_t node);

/// Reads an object of a tape by its keys. null is as good as nothing, of duplicates the last
/// counts, and what nobody asks for is left out. What breaks a rule is left out too, and noted.
class Record {
 public:
  /// `path` is where the object stands, empty for the contract itself.
  Record(const Tape& tape, size_t node, std::string path, Dropped& dropped)
      : tape_(tape), node_(node), path_(std::move(path)), dropped_(dropped) {}

  const Tape& tape() const { return tape_; }
  size_t node() const { return node_; }

  /// Notes what is left out; `key` is empty for the object itself.
  void drop(std::string_view key, std::string_view rule);

  /// What stands under a key; nothing for null.
  std::optional<size_t> find(std::string_view key) const;

  /// A string; nothing, and a note, for anything else and where there is none.
  std::optional<std::string> need_text(std::string_view key, Length length);

  /// Copies an object, or the reference that stands for one.
  void keep_object(std::string_view key);

  /// Writes a text that people read, on one line and without hidden characters.
  void keep_line(std::string_view key, Length length);

  /// Writes one of some words; `fallback` where none is given, unless that is empty.
  void keep_word(std::string_view key, std::span<const std::string_view> words,
                 std::string_view fallback = {});

  /// Writes true or false; `fallback` where neither is given.
  void keep_flag(std::string_view key, std::optional<bool> fallback);

  /// A whole number; nothing where none is given.
  std::optional<uint64_t> number(std::string_view key, uint64_t least, uint64_t most);

  /// Reads the elements of an array, called `things`, until `most` of them are taken: `read` is
  /// given a node and its key, such as `artifacts[2]`, and says whether it takes it.
  template <typename Read>
  void each(std::string_view key, size_t most, std::string_view things, Read read) {
    const std::optional<size_t> list = array(key, things);
    if (!list) return;
    size_t taken = 0;
    size_t index = 0;
    for (size_t at = *list + 1; at < tape_[*list].next; at = tape_[at].next, ++index) {
      if (taken == most) return drop_rest(key, most, things);
      if (read(at, element_path(key, index))) ++taken;
    }
  }

  /// What was written.
  Object& out() { return out_; }

 private:
  std::string path_of(std::string_view key) const;
  std::optional<size_t> array(std::string_view key, std::string_view things);
  void drop_rest(std::string_view key, size_t most, std::string_view things);

  const Tape& tape_;
  size_t node_;
  std::string path_;
  Dropped& dropped_;
  Object out_;
};

// --- values as tools write them: base64, media types, references, lines of text ------------------

/// The same bytes in the standard alphabet, padded (RFC 4648 §4). Takes either alphabet, though not
/// both at once, with or without padding, with white space anywhere. Nothing for other text, a
/// length that no bytes have, and bits behind the last byte that are set.
std::optional<std::string> standard_base64(std::string_view text);

/// `text` (UTF-8 or WTF-8) on one line: white space of any kind becomes one space between words,
/// and what does not show goes: control characters, terminals' control sequences, bidi controls,
/// zero-width and tag characters. A lone surrogate becomes U+FFFD.
std::string one_line(std::string_view text);

/// `type/subtype` with restricted names (RFC 6838 §4.2), the two in lower case, and parameters as
/// they are (RFC 9110 §5.6.6). Nothing when it is no media type or has more than 255 characters.
std::optional<std::string> media_type(std::string_view declared);

/// Whether a text is wholly a reference, as the core writes them: `artifact://`, then at most 1,024
/// characters that stand in a URI.
bool is_reference(std::string_view text);

}  // namespace sluice::files

// One object of the contract: its members checked, and written anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/object.h"
#include "sluice/tape.h"

namespace sluice::files {

/// The first rule that an answer breaks.
struct Breach {
  std::string field;  ///< path of the field, e.g. `artifacts[2].mime`
  std::string rule;   ///< what the field must be; empty while no rule is broken
};

/// How many characters a text may have.
struct Length {
  size_t least = 0;
  size_t most = 0;
};

/// `a string of 1 to 500 characters`
std::string string_of(Length length);

/// Reads an object of a tape by its keys. null is as good as nothing, of duplicates the last
/// counts, and what nobody asks for is left out. Once a rule is broken nothing else is read.
class Record {
 public:
  /// `path` is where the object stands, empty for the contract itself.
  Record(const Tape& tape, size_t node, std::string path, Breach& breach)
      : tape_(tape), node_(node), path_(std::move(path)), breach_(breach) {}

  const Tape& tape() const { return tape_; }
  bool broken() const { return !breach_.rule.empty(); }

  /// Notes a broken rule, unless another was broken before; `key` is empty for the object itself.
  void refuse(std::string_view key, std::string rule);

  /// What stands under a key; nothing for null, and once a rule is broken.
  std::optional<size_t> find(std::string_view key) const;

  /// The same, refused when it is not there; `what` says what it must be, as in `a string`.
  std::optional<size_t> need(std::string_view key, std::string_view what);

  /// A string that has to be there.
  std::optional<std::string> need_text(std::string_view key, Length length);

  /// Copies an object, or the reference that stands for one.
  void keep_object(std::string_view key, bool needed);

  /// Writes a text that people read, on one line and without hidden characters.
  void keep_line(std::string_view key, Length length);

  /// Writes one of some words; `fallback` where none is given, unless that is empty.
  void keep_word(std::string_view key, std::span<const std::string_view> words,
                 std::string_view fallback = {});

  /// Writes true or false; `fallback` where neither is given.
  void keep_flag(std::string_view key, std::optional<bool> fallback);

  /// A whole number; nothing where none is given.
  std::optional<uint64_t> number(std::string_view key, uint64_t least, uint64_t most);

  /// The elements of an array of at most `most`, called `things`; none where none is given.
  std::vector<uint32_t> elements(std::string_view key, size_t most, std::string_view things);

  /// Where a member stands: `artifacts[2].mime`.
  std::string path_of(std::string_view key) const;

  /// What was written.
  Object& out() { return out_; }

 private:
  const Tape& tape_;
  size_t node_;
  std::string path_;
  Breach& breach_;
  Object out_;
};

/// Where an element of an array stands: `artifacts[2]`.
std::string element_path(std::string_view path, size_t index);

}  // namespace sluice::files

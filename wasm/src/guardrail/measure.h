// The size of each value of an observation, and its references: `artifact://…` inside strings, and
// `"artifact":{…}` members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guardrail/cut.h"
#include "sluice/guardrail.h"
#include "sluice/tape.h"

namespace sluice::guardrail {

/// References longer than this, in bytes of source, are not preferred over other content.
inline constexpr size_t kReferenceBytes = 2'048;

/// A piece of source that is kept whole or left out.
struct Reference {
  uint32_t begin = 0;  ///< offsets into the text
  uint32_t end = 0;
  uint32_t node = 0;  ///< the string that holds it, or the object it is
};

/// All references of a document in source order, found in one scan of its text. Excludes references
/// in keys and inside the value of an `artifact` member.
class References {
 public:
  explicit References(const Tape& tape);

  std::span<const Reference> all() const { return found_; }

  /// The references in the source of a node.
  std::span<const Reference> of(size_t node) const {
    return between(tape_[node].begin, tape_[node].end);
  }

  /// The references that begin in [begin, end) of the text.
  std::span<const Reference> between(size_t begin, size_t end) const;

  /// Whether the reference is its whole node: a string, or the value of an `artifact` member.
  bool whole(const Reference& reference) const;

 private:
  size_t take(size_t at);
  size_t take_uri(size_t at, size_t node);
  size_t take_member(size_t key);
  size_t node_at(size_t offset) const;
  bool is_key(size_t node);

  const Tape& tape_;
  std::vector<Reference> found_;
  size_t asked_ = SIZE_MAX;  ///< the node that `is_key` was last asked about, and its answer
  bool answer_ = false;
};

/// Maximum code points of a key, without quotes.
inline constexpr size_t kKeyChars = 200;

/// The sizes in a document: four bytes per node beside the tape, eight if it has references.
class Measure {
 public:
  Measure(const Tape& tape, const GuardrailOptions& options);

  /// The code points of a value without any budget: no white space between tokens, strings cut to
  /// max_field_chars, keys to kKeyChars (the size of a key includes its colon). Saturates above
  /// `limit`.
  uint32_t size(size_t node) const { return sizes_[node]; }

  /// The code points that keep every reference inside; 0 if there are none.
  uint32_t need(size_t node) const { return needs_.empty() ? 0 : needs_[node]; }

  /// Whether the value is just one reference.
  bool whole(size_t node) const;

  size_t limit() const { return limit_; }
  const Tape& tape() const { return tape_; }
  const Suffix& suffix() const { return suffix_; }
  const References& references() const { return references_; }

 private:
  void place_references();
  void sum(size_t container);
  void want_summary(size_t object);
  uint32_t string_size(size_t node) const;
  uint32_t key_size(size_t node) const;
  uint32_t saturated(uint64_t chars) const;

  const Tape& tape_;
  References references_;
  Suffix suffix_;
  size_t limit_;
  size_t field_chars_;
  std::vector<uint32_t> sizes_;
  std::vector<uint32_t> needs_;
};

/// The characters of references in a list, each with a space before it.
uint64_t listed_chars(std::span<const Reference> references);

/// JSON source without the white space between its tokens.
std::string minified(std::string_view source);

}  // namespace sluice::guardrail

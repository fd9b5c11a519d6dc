// The references of an observation: `artifact://…` inside strings, and `"artifact":{…}` members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sluice/tape.h"

namespace sluice::guardrail {

/// Longest reference that is worth more than other content, in bytes of source.
inline constexpr size_t kReferenceBytes = 2'048;

/// A piece of source that is kept whole or not at all.
struct Reference {
  uint32_t begin = 0;  ///< offsets into the text
  uint32_t end = 0;
  uint32_t node = 0;  ///< the string that holds it, or the object it is
};

/// Every reference of a document, in source order, found in one scan of its text. References in
/// keys, and those inside the value of an `artifact` member, are not listed.
class References {
 public:
  explicit References(const Tape& tape);

  std::span<const Reference> all() const { return found_; }

  /// Those in the source of a node.
  std::span<const Reference> of(size_t node) const {
    return between(tape_[node].begin, tape_[node].end);
  }

  /// Those that begin in [begin, end) of the text.
  std::span<const Reference> between(size_t begin, size_t end) const;

  /// Whether the reference is all of its node: of a string, or the value of an `artifact` member.
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

}  // namespace sluice::guardrail

// How many characters each value takes at most, and how many its references alone ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "guardrail/notes.h"
#include "guardrail/references.h"
#include "sluice/guardrail.h"
#include "sluice/tape.h"

namespace sluice::guardrail {

/// Most code points of a key, without its quotes.
inline constexpr size_t kKeyChars = 200;

/// A document and what the clamp knows about it: four bytes a node beside the tape, eight when it
/// holds references.
class Measure {
 public:
  Measure(const Tape& tape, const GuardrailOptions& options);

  /// Code points the value takes when no budget presses: no white space between tokens, strings cut
  /// to max_field_chars, keys to kKeyChars (a key's size counts its colon). Saturates above
  /// `limit`.
  uint32_t size(size_t node) const { return sizes_[node]; }

  /// Code points with which every reference inside is kept; 0 when there are none.
  uint32_t need(size_t node) const { return needs_.empty() ? 0 : needs_[node]; }

  /// Whether the value is one reference and nothing else.
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

/// The characters that references take when they are listed, a space before each.
uint64_t listed_chars(std::span<const Reference> references);

/// JSON source without the white space between its tokens.
std::string minified(std::string_view source);

}  // namespace sluice::guardrail

// Writes a document within a budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "guardrail/measure.h"

namespace sluice::guardrail {

/// A child that stays. In an object, its key is the node before `value`.
struct Child {
  uint32_t value = 0;
  uint32_t ordinal = 0;  ///< its place among its siblings, from 1
  uint32_t lead = 0;     ///< code points in front of it: comma, key, colon
  uint32_t floor = 0;    ///< least code points it is worth showing with
  uint32_t budget = 0;   ///< most code points it may take
};

/// The children that stay, in source order.
struct Share {
  std::vector<Child> kept;
  uint64_t left_out = 0;  ///< children that do not; with some, a note has been budgeted
};

/// Divides `budget` code points among the children of a container that does not fit. References
/// come first, then the first of the others. Small children get all they ask for, large ones equal
/// parts of the rest:
///
///   level ┄┄┄┄┄┄┄┄┄┄█┄┄┄█┄┄
///                █  █ ▄ █       a child's column is its size, cut at the level
///
/// No child stays if nothing fits, or if the object's own reference does not fit.
Share share(const Measure& measure, size_t container, size_t budget);

/// Writes one value. Every step stays within its budget, so the whole does. The depth of the tape
/// bounds the recursion.
class Writer {
 public:
  explicit Writer(const Measure& measure) : measure_(measure), tape_(measure.tape()) {}

  /// Appends a value as at most `budget` code points. A budget below kNoteChars is enough only for
  /// a value of that size.
  void value(size_t node, size_t budget);

  const std::string& text() const { return out_; }

  /// Whether a string, key or number was cut, and whether a container was.
  bool cut_fields() const { return cut_fields_; }
  bool cut_structure() const { return cut_structure_; }

 private:
  void string(size_t node, size_t budget);
  void number(size_t node);
  void all_of(size_t container);
  void part_of(size_t container, size_t budget);
  void children(size_t container, const Share& share, size_t budget);
  void key(size_t node, size_t ordinal);
  void more(size_t container, const Share& share);
  std::string free_key(const Share& share) const;
  void append(std::string_view text);

  const Measure& measure_;
  const Tape& tape_;
  std::string out_;
  size_t chars_ = 0;
  bool cut_fields_ = false;
  bool cut_structure_ = false;
};

}  // namespace sluice::guardrail

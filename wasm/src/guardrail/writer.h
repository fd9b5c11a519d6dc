// Writes a document within a budget that no value can exceed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "guardrail/measure.h"
#include "guardrail/share.h"

namespace sluice::guardrail {

/// Writes one value. Each step is given a budget and stays within it, so the whole does. Recursion
/// is bounded by the depth that the tape allows.
class Writer {
 public:
  explicit Writer(const Measure& measure) : measure_(measure), tape_(measure.tape()) {}

  /// Appends a value as at most `budget` code points. A budget below kNoteChars is enough only for
  /// a value of that size.
  void value(size_t node, size_t budget);

  const std::string& text() const { return out_; }

  /// Whether a string, key or number was cut; whether a container was.
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

// Where a contract stands in what a tool answered.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sluice/tape.h"

namespace sluice::files {

/// Whether a key, a node of the tape, is one of a contract's own members.
bool is_member(const Tape& tape, size_t key);

/// Finds the object that is a contract. Owns what its tape indexes; so it stays where it is.
class Carrier {
 public:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  /// Looks through `text`, which must outlive the carrier; false when nothing there is a contract.
  bool find(std::string_view text);

  const Tape& tape() const { return inner_.empty() ? tape_ : inner_tape_; }
  size_t node() const { return node_; }

 private:
  bool find_in_text(size_t content);

  Tape tape_;
  std::string inner_;
  Tape inner_tape_;
  size_t node_ = 0;
};

}  // namespace sluice::files

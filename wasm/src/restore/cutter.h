// Cuts a written value into the parts that stay and the parts to put back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "restore/refs.h"
#include "sluice/restore.h"
#include "sluice/tape.h"

namespace sluice::restoring {

/// How deep a `was` may be nested in another. We write one level.
inline constexpr int kMaxNesting = 4;

/// A value and its list of edits.
class Cutter {
 public:
  /// `refs` is the tape that holds the entries.
  Cutter(const Tape& tape, size_t root, const Tape& refs, int depth = 0)
      : tape_(tape), root_(root), refs_(refs), depth_(depth) {}

  /// Undoes entries. Fails if one does not find its place.
  Status undo(const std::vector<Entry>& entries);

  /// Removes our list from the root's `_meta`, unless an entry has replaced it.
  void take_list_out();

  /// Appends the pieces of `text[begin, end)`, which contains the root.
  Status finish(size_t begin, size_t end, std::vector<Piece>& pieces);

 private:
  struct Cut {
    uint32_t begin = 0;
    uint32_t end = 0;
    std::vector<Piece> pieces;
  };

  Status fill(size_t node, std::vector<const Entry*> entries);
  Status fill_value(size_t node, const Entry& entry);
  Status fill_string(size_t node, const std::vector<const Entry*>& entries);
  Status replace(size_t node, const Entry& entry);
  void remove(size_t container, size_t value);
  void remove_members();

  const Tape& tape_;
  size_t root_;
  const Tape& refs_;
  int depth_;
  std::vector<Cut> cuts_;
  NodeSet removed_;
  NodeSet shrunk_;  // the containers of what is removed
  NodeSet replaced_;
};

}  // namespace sluice::restoring

// Cuts a written value into the parts that stay and the parts to put back, as the entries of
// `_meta["sluice/refs"]` say. They come from a document, so everything is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layers/result/references.h"
#include "sluice/restore.h"
#include "sluice/status.h"
#include "sluice/tape.h"

namespace sluice::restoring {

// --- the entries of `_meta["sluice/refs"]` -------------------------------------------------------

/// Maximum entries of one list.
inline constexpr size_t kMaxEntries = 0x20000;

/// One entry (see layers/result/references.h). `was` and `refs` are nodes of the tape it was read
/// from.
struct Entry {
  std::string at;
  std::string uri;
  std::string from;  ///< names what is put back, where that is not `uri`
  size_t n = 0;
  layers::Hole kind = layers::Hole::run;
  bool key = false;
  bool added = false;
  std::string wrap;
  std::string form;
  std::optional<size_t> was;
  std::optional<size_t> refs;
};

/// Reads an array of entries. Fails with `restore_refs`.
Status read_entries(const Tape& tape, size_t array, std::vector<Entry>& entries);

/// Parses the name of a kind. Empty if there is no such kind.
std::optional<layers::Hole> kind_named(std::string_view name);

/// The piece that a reference stands for, written in `form` where the reference names none. Empty
/// if it is no reference, or the form is malformed.
std::optional<Piece> piece_for(std::string_view uri, layers::Hole kind, std::string_view form);

/// Appends literal text, joined with a literal before it.
void append_literal(std::vector<Piece>& pieces, std::string_view text);

/// The error for a list that does not fit its document.
Status misfit(std::string_view path, std::string_view message);

// --- the cutter ----------------------------------------------------------------------------------

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

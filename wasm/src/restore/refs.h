// Parses the entries of `_meta["sluice/refs"]`. They come from a document, so everything is
// checked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layers/edits.h"
#include "sluice/restore.h"
#include "sluice/status.h"
#include "sluice/tape.h"

namespace sluice::restoring {

/// Maximum entries of one list.
inline constexpr size_t kMaxEntries = 0x20000;

/// One entry (see layers/edits.h). `was` and `refs` are nodes of the tape it was read from.
struct Entry {
  std::string at;
  std::string uri;
  std::string from;  ///< names what is put back, where that is not `uri`
  size_t n = 0;
  layers::Hole kind = layers::Hole::run;
  bool key = false;
  bool added = false;
  std::string wrap;
  std::optional<size_t> was;
  std::optional<size_t> refs;
};

/// Reads an array of entries. Fails with `restore_refs`.
Status read_entries(const Tape& tape, size_t array, std::vector<Entry>& entries);

/// Parses the name of a kind. Empty if there is no such kind.
std::optional<layers::Hole> kind_named(std::string_view name);

/// The piece that a reference stands for. Empty if it is no reference.
std::optional<Piece> piece_for(std::string_view uri, layers::Hole kind);

/// Appends literal text, joined with a literal before it.
void append_literal(std::vector<Piece>& pieces, std::string_view text);

/// The error for a list that does not fit its document.
Status misfit(std::string_view path, std::string_view message);

}  // namespace sluice::restoring

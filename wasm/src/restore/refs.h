// The entries of `_meta["sluice/refs"]`, read back. They come from a document, so they are checked,
// never believed.
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

/// Most entries of one list.
inline constexpr size_t kMaxEntries = 0x20000;

/// One entry (see layers/edits.h). `was` and `refs` are nodes of the tape that it was read from.
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

/// The name of a kind as an entry spells it, read; nothing when there is no such kind.
std::optional<layers::Hole> kind_named(std::string_view name);

/// What fills the hole a reference leaves. Nothing when it is no reference.
std::optional<Piece> piece_for(std::string_view uri, layers::Hole kind);

/// Appends literal text, joining it with a literal before it.
void append_literal(std::vector<Piece>& pieces, std::string_view text);

/// The error of a list that does not fit its document.
Status misfit(std::string_view path, std::string_view message);

}  // namespace sluice::restoring

// The mcp dialect: a result that any MCP client accepts, and the list that undoes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "layers/blocks.h"
#include "layers/document.h"
#include "layers/edits.h"
#include "layers/notes.h"

namespace sluice::layers {

/// Rewrites a result by splices. A diverted block becomes a text block at the same index, anything
/// else a reference inside its string, because clients check that `data` and `blob` are base64 and
/// that they know all block types.
class Mcp {
 public:
  Mcp(const Config& config, const Call& call, const Document& document, const SegmentTable& table);

  /// Whether anything has to change.
  bool changes() const;

  std::string write();

  /// The list for `_meta["sluice/refs"]`, even if the result has no place for it.
  std::string refs() const { return edits_.json(); }

 private:
  void rewrite_result();
  void rewrite_collapsed();
  void rewrite_items(const std::string& at);
  void finish_list(const std::string& at);
  void rewrite_block(size_t block, const std::string& at);
  void rewrite_entry(size_t entry, const std::string& at);
  void rewrite_structured(const std::string& at);
  void rewrite_meta(size_t meta, const std::string& at);
  void replace_in_meta(size_t meta);
  Splice list_in(const Tape& tape, size_t body) const;
  void finish_body();
  void keep(size_t data, const Load& load);
  void replace(size_t node, const std::string& at, std::optional<uint32_t> segment,
               std::string with);
  std::string text_of(size_t string) const;
  std::string block_with(size_t block, std::string_view text) const;
  std::string entry_with(size_t entry, const std::string& uri, std::string_view text) const;
  std::string note_entry(size_t entry, uint32_t segment) const;
  std::vector<uint32_t> news() const;
  std::vector<std::string> tail_blocks() const;
  std::optional<size_t> server_refs() const;

  const Document& document_;
  const SegmentTable& table_;
  Notes notes_;
  Media media_;
  Shape shape_;
  Referrer referrer_;
  std::vector<Splice> splices_;
  Edits edits_;
  std::vector<uint32_t> noted_;    // what a block's own note tells of
  std::vector<uint32_t> shown_;    // images that stay
  std::vector<uint32_t> beside_;   // what a replaced block held beside what its note names
  std::vector<std::string> tail_;  // members to add at the end of the body
};

}  // namespace sluice::layers

// The two dialects of a result.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "json/object.h"
#include "layers/blocks.h"
#include "layers/result/document.h"
#include "layers/result/notes.h"
#include "layers/result/references.h"

namespace sluice::layers {

/// A text block, and the value in `structuredContent` that it says over again.
struct Repetition {
  uint32_t block = 0;
  size_t value = 0;
};

/// The text blocks that say what `structuredContent` says, or a part of it.
std::vector<Repetition> texts_that_say_structure(const Document& document, const Shape& shape,
                                                 const SegmentTable& table);

// --- what a planner shows its model --------------------------------------------------------------

/// Writes one observation. It is a view: it opens envelopes, shows the half that `prefer` names,
/// and adds what only the other half says. Nothing is dropped and nothing is repeated:
///
///   {"rows":[…]}                                      the text is the same JSON value
///   {"structured":{"rows":[…]},"content":[{"type":"text","text":"WARNING: …"}]}
///   {"content":"WARNING: …","structured":{"rows":[…]}}             with `prefer: content`
class Observation {
 public:
  Observation(const Config& config, const Call& call, const Document& document,
              const SegmentTable& table, const std::vector<std::string>& links);

  std::string write();

 private:
  using Ids = std::map<std::string, int>;  ///< with how often each occurs

  std::string result();
  std::string structured_half();
  std::string content_half();
  std::string contents();
  std::string whole(size_t node) const;
  std::string array(const std::vector<std::string>& items) const;
  std::string content_value(bool& sole);
  std::string show(size_t block);
  std::vector<std::string> blocks_beside(size_t half);
  bool adds_to(size_t node, const Ids& ids) const;
  bool repeats(size_t block, const Ids& ids) const;
  bool says_nothing(size_t node) const;
  Ids ids_in(size_t node) const;
  Object head() const;
  std::string other_members() const;

  const Config& config_;
  const Call& call_;
  const Document& document_;
  const SegmentTable& table_;
  const std::vector<std::string>& links_;
  Shape shape_;
  Notes notes_;
  std::vector<uint32_t> link_blocks_;
  std::vector<uint32_t> repeated_;  // text blocks that say what the structured half says
};

// --- a result that any MCP client accepts, and the list that undoes it ---------------------------

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
  std::optional<std::string> instead_of(size_t item) const;
  bool has_instead() const;
  void rewrite_structured(const std::string& at);
  void tell_structured(size_t node, const std::string& at);
  std::optional<std::string> told_reference(uint32_t segment);
  bool has_ids_of(size_t node, size_t other) const;
  bool repeat_structured(size_t block, const std::string& at);
  void rewrite_meta(size_t meta, const std::string& at);
  void replace_in_meta(size_t meta);
  Splice list_in(const Tape& tape, size_t body) const;
  void finish_body();
  void replace(size_t node, const std::string& at, std::optional<uint32_t> segment,
               std::string with);
  std::string text_of(size_t string) const;
  std::string block_with(size_t block, std::string_view text) const;
  std::string entry_with(size_t entry, const std::string& uri, std::string_view text) const;
  std::string note(uint32_t segment);
  std::string note_entry(size_t entry, uint32_t segment) const;
  std::vector<uint32_t> news() const;
  std::vector<std::string> tail_blocks();
  std::optional<size_t> server_refs() const;

  const Document& document_;
  const SegmentTable& table_;
  const StructureNotes structure_notes_;
  const size_t most_;  // characters of a text that stays
  Shape shape_;
  Notes notes_;
  Told told_;
  Told told_structured_;        // in the strings of `structuredContent`
  size_t references_told_ = 0;  // of those strings
  std::vector<Repetition> repeated_;
  Referrer referrer_;
  std::vector<Splice> splices_;
  Edits edits_;
  std::vector<uint32_t> noted_;    // what a block's own note tells of
  std::vector<uint32_t> shown_;    // blocks that stay
  std::vector<uint32_t> beside_;   // what a replaced block held beside what its note names
  std::vector<std::string> tail_;  // members to add at the end of the body
};

}  // namespace sluice::layers

// What is said about stored things: references, summaries, artifact objects, notes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layers/document.h"
#include "layers/ledger.h"

namespace sluice::layers {

/// `{"type":"text","text":…}`
std::string note_as_block(std::string_view note);

/// Writes words about segments. Nothing here changes a document.
class Notes {
 public:
  Notes(const Config& config, const Call& call, const Ledger& ledger)
      : config_(config), call_(call), ledger_(ledger) {}

  /// The reference to a segment, as it stands in a string.
  std::string uri(uint32_t segment, bool with_form) const;

  /// One line: the template's words or the description; says so when nothing was stored.
  std::string summary(uint32_t segment) const;

  /// The members `"artifact":{…},"summary":"…"` and for texts `"preview":"…"`, with a comma in
  /// front where something stands in `out`'s object already. Of what was not stored as much is
  /// shown as is known: a text's beginning as a longer `preview`, that of JSON as a value,
  /// `beginning`.
  void append_artifact(std::string& out, uint32_t segment) const;

  /// The object of those members.
  std::string artifact(uint32_t segment) const;

  /// `[sluice] PDF, 2.1 MB: stored, not shown. Read it with …`; of a text that was not stored its
  /// beginning, in all at most `max_inline_size` characters.
  std::string note(uint32_t segment) const;

  /// As much as is shown of a text that was not stored, references in place; empty for anything
  /// else. It ends where a long word begins that may be an encoding.
  std::string beginning(uint32_t segment) const;

  /// The same for several at once: eight lines, then a count. `shown` are images that stand in the
  /// result too. Not for nothing at all.
  std::string list(const std::vector<uint32_t>& segments, const std::vector<uint32_t>& shown) const;

 private:
  bool is_stored(uint32_t segment) const;
  size_t lost_inside(uint32_t segment) const;
  std::string words(uint32_t segment) const;
  std::string what_is_left(uint32_t segment, size_t shown_chars) const;
  std::string with_uris(std::string_view text) const;
  std::string name(uint32_t segment) const;
  std::string template_of(uint32_t segment) const;
  std::string read_tool() const;

  const Config& config_;
  const Call& call_;
  const Ledger& ledger_;
};

}  // namespace sluice::layers

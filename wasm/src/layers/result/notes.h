// The words about stored things: references, summaries, artifact objects, notes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layers/result/document.h"
#include "layers/result/segment_table.h"

namespace sluice::layers {

/// `{"type":"text","text":…}`
std::string note_as_block(std::string_view note);

/// What the notes of a result have told so far.
struct Told {
  bool how_to_read = false;
  size_t previews = 0;
};

/// Describes segments. Does not change the document.
class Notes {
 public:
  /// `of_error`: whether the result tells an error.
  Notes(const Config& config, const Call& call, const SegmentTable& table, bool of_error)
      : config_(config), call_(call), table_(table), of_error_(of_error) {}

  /// The reference to a segment for use inside a string.
  std::string uri(uint32_t segment, bool with_form) const;

  /// One line: the summary template filled in, or the description, without the first line where a
  /// preview stands beside it. Says so if nothing was stored.
  std::string summary(uint32_t segment, bool previewed = false) const;

  /// Appends the members `"artifact":{…},"summary":"…"`, and `"preview":"…"` for text, with a comma
  /// if members precede them; of JSON `"values":"…"` too. Of something that was not stored it shows
  /// all that is known: a longer `preview` of a text, or the `beginning` of a JSON value.
  void append_artifact(std::string& out, uint32_t segment) const;

  /// An object with those members.
  std::string artifact(uint32_t segment) const;

  /// `[sluice] PDF, 2.1 MB. Stored, not shown. Read it with …`, behind the first such note
  /// `[sluice] PDF, 2.1 MB. Stored, not shown: artifact://…`. For a text followed by a preview. For
  /// an unstored text followed by its beginning; at most `max_inline_size` characters in all.
  std::string note(uint32_t segment, Told& told) const;

  /// The beginning of an unstored text with references in it, up to a long word that may be an
  /// encoding. Empty for anything else.
  std::string beginning(uint32_t segment) const;

  /// A note about several segments: eight lines, then a count. `segments` must not be empty.
  std::string list(const std::vector<uint32_t>& segments, Told& told) const;

 private:
  bool is_stored(uint32_t segment) const;
  std::string unstored_note(uint32_t segment) const;
  size_t lost_inside(uint32_t segment) const;
  std::string files_inside(uint32_t segment) const;
  std::string words(uint32_t segment, bool previewed = false) const;
  std::string what_is_left(uint32_t segment, size_t shown_chars) const;
  std::string with_uris(std::string_view text) const;
  std::string excerpt(uint32_t segment) const;
  std::string name(uint32_t segment) const;
  std::string template_of(uint32_t segment) const;
  std::string read_tool() const;

  const Config& config_;
  const Call& call_;
  const SegmentTable& table_;
  const bool of_error_;
};

/// Whether a reference would seem to go on with this character.
bool continues_uri(char c);

/// Appends a value's source. Fully diverted values become artifact objects, other markers
/// references.
void append_showing(std::string& out, const Document& document, size_t node, const Notes& notes);

/// The same where only a string may stand: all markers become references.
void append_referring(std::string& out, const Document& document, size_t node, const Notes& notes);

/// Appends a member of an object: its key and its value.
void append_member(std::string& out, const Document& document, size_t value, const Notes& notes);

}  // namespace sluice::layers

// What a person would want to know about a stored thing, in one line, from bounded looks at it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/bytes.h"
#include "sluice/segment.h"
#include "sluice/sniff.h"

namespace sluice {

/// Bytes of head kept for describing, and of tail where a kind of file keeps something there.
inline constexpr size_t kDescribeHead = 65'536;
inline constexpr size_t kDescribeTail = 262'144;
/// Bytes of tail that are looked at for lines worth showing.
inline constexpr size_t kExcerptTail = 8'192;

/// Follows a JSON text as it streams by (the NaN and Infinity of Python among its numbers are told)
/// and tells its outermost shape; constant memory, never a
/// DOM, the same answer for any chunking. Malformed input just ends the outline. Markers
/// (sluice/segment.h) inside strings are allowed. Costs nothing until the first `push`.
class Outline {
 public:
  /// `valid`: the text is known to be JSON, so that what does not matter may be skipped.
  explicit Outline(bool valid = false);
  ~Outline();
  Outline(Outline&&) noexcept;
  Outline& operator=(Outline&&) noexcept;

  void push(Bytes bytes);

  /// `array of 12,000 {id: integer, name: string, v: number}`,
  /// `object {rows: array of 300 {a: integer}, total: integer}`, or of NDJSON, arrays or objects
  /// with a line for each, `1,200 lines of {id: integer}`; empty when the text is not JSON or
  /// is a lone scalar. Of JSON that was cut off it tells the whole elements, and says so: `array of
  /// 721 {id: integer}, cut off`. Element types are those of all elements, keys and their types
  /// those of the first hundred. At most 300 characters, eight keys (then `… 12 more`), keys
  /// shortened to 40 characters and shown bare only if they are plain identifiers (otherwise, at
  /// most five of them, quoted by the rules of `quote_untrusted`).
  std::string finish() const;

  /// The short members outside of arrays and in one of at most three elements, to depth 8, a line
  /// for each with its JSON Pointer and its source: `/next_cursor: "b2Zmc2V0"`. At most sixteen,
  /// 1,500 characters together; in place of a value of more than 512 stand its size and its end.
  /// Empty where `finish` is.
  std::string values() const;

  /// Whether the text so far is several documents, a line for each.
  bool is_lines() const;

  /// How many lines of words stand behind such documents.
  uint64_t below() const;

  /// Whether the text so far may be JSON.
  bool may_be() const;

  /// Whether it is the beginning of one value.
  bool is_open() const;

 private:
  class Reader;
  bool valid_ = false;
  std::unique_ptr<Reader> reader_;
};

/// What `describe` is given: the type, the size, both ends of the file, and of a text what its
/// whole says.
struct Subject {
  FileType type;
  uint64_t size_bytes = 0;
  Bytes head;              ///< first bytes; no more than kDescribeHead are looked at
  Bytes tail;              ///< last bytes; none are needed where `head` is everything
  bool text = false;       ///< it is text, and of this:
  std::string outline;     ///< the shape, if it is JSON
  bool is_lines = false;   ///< NDJSON
  uint64_t lines = 0;      ///< 0: not counted
  std::string_view token;  ///< what was counted because of how the text begins
  uint64_t parts = 0;      ///< how often: messages, events, sequences
  uint64_t tables = 0;     ///< of HTML, where its rows are counted
  std::string table;       ///< `, 12,000 rows, 8 columns, …` if it is one
  std::string values;      ///< of JSON, see `Outline::values`
  std::string kind;        ///< what programs print and people write: `diff`, `Markdown`; else empty
  std::string kind_facts;  ///< what is told of that kind: `, 2 files, +3 −1`
  std::string headings;    ///< lines that tell more of such a text than its first ones, if any do
};

/// The end of a text, or all of it where that is the head.
std::string_view find_end(const Subject& subject);

/// Follows a text as it streams by, for what a description says of its whole.
class TextFacts {
 public:
  /// `head`: the text's first kSniffHead bytes, or all of it where it is shorter. `declared`: what
  /// stands between the columns of a text that somebody says is a table, see `declared_delimiter`.
  /// `json`: it is known to be JSON.
  explicit TextFacts(std::string_view head, char declared = '\0', bool json = false);
  ~TextFacts();

  /// The bytes behind the head.
  void push(Bytes bytes);

  /// Writes what was found into a subject; plain text is JSON, NDJSON, CSV or TSV from then on
  /// where it is evidently that.
  void tell(Subject& subject) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A comma or a tab where a media type or else a file's name says that it is a table (`text/csv`,
/// `.csv`, `text/tab-separated-values`, `.tsv`); else 0.
char declared_delimiter(std::string_view mime_type, std::string_view filename);

/// The same of a text that is all there.
void tell_text(std::string_view text, Subject& subject);

/// Keeps the end of what streams by; costs nothing until something is pushed.
class Tail {
 public:
  explicit Tail(size_t size = kDescribeTail) : size_(size) {}

  void push(std::string_view bytes);

  /// The last bytes, as many as it keeps, of a file that is `head` and what was pushed.
  std::string finish(std::string_view head) const;

 private:
  size_t size_;
  std::string ring_;
  size_t at_ = 0;  // where the oldest byte stands, once the ring is full
};

/// Whether the end of a file that begins with `head` (kSniffHead bytes or more) says more of it.
bool wants_tail(Bytes head);

/// Writes a segment's description. Computed facts stand bare (`PNG image, 640 × 480, 1.0 MB`, `CSV,
/// 2.1 MB, 12 rows`); whatever is quoted from the file, at most five texts, follows `(from the
/// file):` by the rules of `quote_untrusted`. Parts not seen are left out. Of most kinds of files
/// that are no text it is type and size alone, with the evidence for `tell_facts` (sluice/facts.h)
/// to say more.
void describe(const Subject& subject, Segment& segment);

/// Writes into a segment what its text is shown by, at most kPreviewChars code points: the first
/// lines and always the last ones (of JSON its end, and `values` beside it); of a log, and
/// of any text in an error (`error_excerpt`, if it differs), the lines that say what went wrong,
/// with some of both ends; the header and the first rows of a table; the first rows of JSON; the
/// title and headings of Markdown and of HTML. Empty where the bytes are no text. `…` shows a cut.
/// Lines come without control characters, ANSI sequences and what shows nothing, never with a part
/// of an encoding, an escape or a reference; markers stay. `[sluice]` never stands in them.
void add_excerpts(const Subject& subject, Segment& segment);

/// A description without the lines or values of the text that it quotes at its end.
std::string_view without_first_line(std::string_view description);

/// `0 B`, `312 B`, `1.0 KB`, `2.1 MB`, `1.4 GB`: powers of 1,024, one decimal from KB on.
std::string human_size(uint64_t bytes);

/// Gives a segment the size that it has in the store, in its description too.
void resize(Segment& segment, uint64_t bytes);

/// Untrusted text made harmless and JSON-quoted, at most `limit` code points between the quotes (a
/// last `…` shows a cut). Removed: control characters, whole ANSI sequences, markers, bidi
/// controls, zero-width and tag characters, variation selectors, soft hyphens. White space of any
/// kind becomes one space, invalid UTF-8 becomes U+FFFD, full-width ASCII becomes ASCII. Defused by
/// look-alikes that no normalisation turns back: `` ` `` ' · `[]` ❲❳ · `!` ǃ · `*` ∗ · `#` ♯ ·
/// `|` ∣ · `~` ∼ · `<` ‹ unless white space, a digit, `=`, `<`, `-` or the end follows ·
/// `>` › unless behind white space, `=` or one `-` · `()` ❨❩ behind `]`; and by a space: `:/ /`,
/// `www .`, `data :`, `javascript :` and the like, `& lt;`.
std::string quote_untrusted(std::string_view text, size_t limit = 60);

/// The first `limit` code points of `text`, cut at a code-point boundary, invalid UTF-8 replaced
/// and control characters other than tab and newline removed. An `artifact://` reference (up to
/// 1,024 characters) or a marker is never cut in two: it stands whole, or the preview ends before
/// it.
std::string preview(std::string_view text, size_t limit = kPreviewChars);

/// Whether bytes are UTF-8 text as far as a head of them shows: well-formed, without control
/// characters other than white space. A sequence cut by the head's end counts as whole; nothing is
/// no text.
bool is_text(std::string_view head);

/// Replacement characters (EF BF BD), C1 controls, and C0 controls other than tab, newline, return,
/// form feed and ESC: what is left where a decoder read binary as text.
uint64_t count_damage(std::string_view text);

}  // namespace sluice

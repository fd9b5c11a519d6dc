// Cutting text: between code points, never inside an escape, a surrogate pair or a reference; and
// the notes about what was left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/tape.h"

namespace sluice::guardrail {

class Measure;

/// How to count characters: as they are, or as a JSON string would escape them.
enum class Spelling : uint8_t { source, escaped };

/// The beginning of a text.
struct Head {
  size_t bytes = 0;
  size_t chars = 0;  ///< code points in the spelling asked for
};

/// The longest beginning of `text` (JSON source, or the inside of a JSON string) that has at most
/// `limit` code points and ends where a cut is allowed.
Head cut_head(std::string_view text, size_t limit, Spelling spelling = Spelling::source);

/// The length in bytes of the reference `artifact://…` at `text[at]`, else 0. Its slashes may be
/// escaped once (`\/`). Punctuation that may end a sentence is not part of it.
size_t reference_at(std::string_view text, size_t at);

/// The number of code points of `text` inside a JSON string. For JSON source, where the only
/// control characters are white space.
size_t escaped_chars(std::string_view text);

/// The source bytes [begin, end) of a document as the inside of a JSON string of at most `room`
/// code points:
///
///   head of the text … suffix artifact://in_the_rest artifact://as_well
///
/// `Spelling::source` for the inside of a string, `escaped` for JSON source that becomes a string.
/// With little room the head ends in `… 963 more`, or only in an ellipsis.
std::string cut_text(const Measure& measure, size_t begin, size_t end, size_t room,
                     Spelling spelling);

// --- notes about what was left out ---------------------------------------------------------------

/// Maximum code points of a note with its quotes, and of the member `"…":"37 more keys"`.
inline constexpr size_t kNoteChars = 40;

/// Maximum code points of a truncation suffix.
inline constexpr size_t kSuffixChars = 200;

/// The truncation suffix. Safe for any template: escaped for a JSON string, at most
/// kSuffixChars code points, invalid UTF-8 replaced.
class Suffix {
 public:
  explicit Suffix(std::string_view pattern);

  /// The suffix for `left_out` code points, as the inside of a JSON string.
  std::string text(uint64_t left_out) const;

  /// The maximum code points of `text`.
  size_t chars() const { return chars_; }

 private:
  std::string filled(uint64_t left_out) const;

  std::string pattern_;
  size_t chars_ = 0;
};

/// `"… object with 3 keys"`, `"… array with 1 item"`, `"… number of 300 characters"`.
std::string collapsed_note(Type type, uint64_t count);

/// `11,950 more items`, `1 more key`.
std::string more_note(Type container, uint64_t count);

/// `"… observation of 60,000 characters left out"`
std::string nothing_fits_note(uint64_t chars);

}  // namespace sluice::guardrail

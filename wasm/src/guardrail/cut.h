// Cutting text: between code points, never inside an escape, a surrogate pair or a reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "guardrail/measure.h"

namespace sluice::guardrail {

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

}  // namespace sluice::guardrail

// Where text may be cut: between code points, never inside an escape, a surrogate pair or a
// reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::guardrail {

/// How the characters of a cut are counted: as they stand, or as a JSON string would spell them.
enum class Spelling : uint8_t { source, escaped };

/// A head of some text.
struct Head {
  size_t bytes = 0;
  size_t chars = 0;  ///< code points in the spelling asked for
};

/// The longest head of `text` (JSON source, or the inside of a JSON string) of at most `limit` code
/// points that ends where a cut may fall.
Head cut_head(std::string_view text, size_t limit, Spelling spelling = Spelling::source);

/// Length in bytes of the reference `artifact://…` that starts at `text[at]`; 0 when none does. Its
/// slashes may be escaped once (`\/`). Punctuation that may end a sentence is not part of it.
size_t reference_at(std::string_view text, size_t at);

/// Code points of `text` as a JSON string would spell them. For JSON source, whose only control
/// characters are white space.
size_t escaped_chars(std::string_view text);

}  // namespace sluice::guardrail

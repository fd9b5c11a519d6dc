// Values as tools write them: base64, media types, references, lines of text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::files {

/// The same bytes in the standard alphabet, padded (RFC 4648 §4). Takes either alphabet, though not
/// both at once, with or without padding, with white space anywhere. Nothing for other text, a
/// length that no bytes have, and bits behind the last byte that are set.
std::optional<std::string> standard_base64(std::string_view text);

/// `text` (UTF-8 or WTF-8) on one line: white space of any kind becomes one space between words,
/// and what does not show goes: control characters, terminals' control sequences, bidi controls,
/// zero-width and tag characters. A lone surrogate becomes U+FFFD.
std::string one_line(std::string_view text);

/// `type/subtype` with restricted names (RFC 6838 §4.2), the two in lower case, and parameters as
/// they are (RFC 9110 §5.6.6). Nothing when it is no media type or has more than 255 characters.
std::optional<std::string> media_type(std::string_view declared);

/// Whether a text is wholly a reference, as the core writes them: `artifact://`, then at most 1,024
/// characters that stand in a URI.
bool is_reference(std::string_view text);

}  // namespace sluice::files

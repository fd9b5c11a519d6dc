// base64 and hex: classification, decoding, encoding. Each hot loop has a WASM SIMD128 kernel and a
// scalar twin; the scalar twin alone computes where an error is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sluice/bytes.h"

namespace sluice {

/// RFC 4648 §4 (standard: `+ /`), §5 (url: `- _`), §8 (hex, either case).
enum class Alphabet : uint8_t { standard, url, hex };

/// How far a decoder came: `read` input characters became `written` bytes.
struct Decoded {
  size_t read = 0;
  size_t written = 0;
};

/// Length of the leading stretch of `text` whose characters all belong to `alphabet` (no padding).
size_t alphabet_span(Bytes text, Alphabet alphabet);

/// Length of the leading stretch of letters, digits and any of `+ / - _`.
size_t any_base64_span(Bytes text);

/// Decodes whole quanta (4 base64 characters, 2 hex digits) and stops before the first quantum that
/// holds a character outside `alphabet` (padding included). `out` has room for
/// `decoded_capacity(text.size())` bytes.
Decoded decode(Bytes text, Alphabet alphabet, uint8_t* out);

/// Room that `decode` may use for `characters` of input, in bytes (with slack for wide stores).
constexpr size_t decoded_capacity(size_t characters) {
  return characters / 4 * 3 + 3 + characters / 4 + 32;
}

/// Decodes a last quantum of 2 or 3 characters without padding. Nothing when a character is outside
/// the alphabet or a trailing bit is set (RFC 4648 §3.5). Writes 1 or 2 bytes.
std::optional<size_t> decode_tail(Bytes text, Alphabet alphabet, uint8_t* out);

/// Appends the encoding of `bytes`; base64 is padded to whole quanta only when `padded`. Hex digits
/// are lower case unless `upper`.
void encode(Bytes bytes, Alphabet alphabet, bool padded, bool upper, std::string& out);

}  // namespace sluice

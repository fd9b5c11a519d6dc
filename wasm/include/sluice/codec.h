// base64 and hex: classification, decoding, encoding, and the form of a run: everything needed to
// write its bytes again exactly as they stood in the string. Each hot loop has a WASM SIMD128
// kernel and a scalar twin; the scalar twin alone computes where an error is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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
  return characters / 4 * 3 + 3 + 32;
}

/// Decodes a last quantum of 2 or 3 characters without padding. Nothing when a character is outside
/// the alphabet or a trailing bit is set (RFC 4648 §3.5). Writes 1 or 2 bytes.
std::optional<size_t> decode_tail(Bytes text, Alphabet alphabet, uint8_t* out);

/// Appends the encoding of `bytes`; base64 is padded to whole quanta only when `padded`. Hex digits
/// are lower case unless `upper`.
void encode(Bytes bytes, Alphabet alphabet, bool padded, bool upper, std::string& out);

// --- spellings of bytes as text ------------------------------------------------------------------

/// Appends a byte as `repr` of Python writes it between two `quote`s, each backslash `slashes`
/// times, as strings inside strings have it.
void append_python(std::string& out, uint8_t byte, char quote, size_t slashes);

/// Where the digits of a line of `xxd` begin, and its text.
inline constexpr size_t kDumpDigits = 10;
inline constexpr size_t kDumpText = 51;

/// Appends the line of up to 16 bytes, without its end.
void append_dump_line(std::string& out, std::string_view bytes, uint64_t offset, size_t slashes);

// --- forms ---------------------------------------------------------------------------------------

/// The last three are text of their own: each character up to U+00FF is one byte; the literal of
/// Python, `b'\x89PNG'`; the lines of `xxd`.
enum class Encoding : uint8_t {
  base64,
  base64url,
  hex,
  hex_upper,
  byte_array,
  signed_array,  ///< `[-119,80,78,71]`
  byte_object,   ///< `{"0":137,"1":80}`
  latin1,
  python,
  xxd,
};

/// Whether the bytes are numbers of a JSON value.
constexpr bool is_list(Encoding encoding) {
  return encoding >= Encoding::byte_array && encoding <= Encoding::byte_object;
}

/// One uniform spelling of a run, in the text of the string that holds it (JSON escapes of that
/// string undone once; escapes of JSON nested deeper are literal text here).
///
///   data:image/png;base64,iVBORw0KGgo…\nAAAASUhEUg…\n…AAAA==
///   └──────prefix───────┘ └─ column ─┘└┤            pad ┘
///                                  separator
///
/// Lines are counted in characters of the encoding, padding included; one that is spelled in
/// several characters counts as one. A separator stands only between lines, never behind the last.
/// Fields that an encoding has no use for keep their defaults.
struct Form {
  Encoding encoding = Encoding::base64;
  bool padded = true;      ///< base64: padding stands where the length calls for it
  uint32_t column = 0;     ///< characters in a line; 0 when not wrapped
  uint32_t first = 0;      ///< characters in a shorter first line; 0 when it is like the others
  std::string separator;   ///< between lines of a wrapped run, or between elements of a list; how a
                           ///< backslash is spelled (python), or the end of a line (xxd)
  std::string colon;       ///< byte_object: between the number of an element and its value
  std::string plus = "+";  ///< spelling of `+` (base64 only)
  std::string slash = "/";  ///< spelling of `/` (base64 only)
  std::string pad = "=";    ///< spelling of `=` (padded base64 and base64url)
  std::string prefix;       ///< literal text before the run that the reference replaces too
  std::string suffix;       ///< literal text behind it (`]` of a byte array)

  bool operator==(const Form&) const = default;
};

/// Bounds that `parse_form` keeps, in bytes and in characters of a line.
inline constexpr size_t kMaxFormPrefix = 256;
inline constexpr size_t kMaxFormLiteral = 128;
inline constexpr uint32_t kMaxFormColumn = 1024 * 1024;

/// The value of `form=` in a reference; empty for a plain padded base64 run. Tokens joined by `-`:
/// `base64 base64url hex HEX bytes int8 object latin1 python xxd`, `nopad`, `w<column>`,
/// `f<first>`, and literals as lower-case hex: `b` separator, `c` colon, `u` plus, `s` slash, `e`
/// pad, `p` prefix, `z` suffix; `data` stands for the prefix `data:<mime_type>;base64,`. Example:
/// `base64-w76-b0d0a`.
std::string form_name(const Form& form, std::string_view mime_type);

/// Reads a name written by `form_name`; nothing when it is malformed, out of bounds, spelled in
/// another way than `form_name` would, or says what no run can be (lines without a separator, the
/// same spelling for `+` and `/`).
std::optional<Form> parse_form(std::string_view name, std::string_view mime_type);

/// Writes bytes in a form, in pieces of any size. State carries the open quantum and the column.
class FormWriter {
 public:
  explicit FormWriter(Form form) : form_(std::move(form)) {}

  /// Appends the text for `bytes` to `out` (plain text: the caller escapes it for JSON).
  void write(std::string_view bytes, std::string& out);

  /// Appends what is left: the last quantum, padding, suffix. Call once.
  void finish(std::string& out);

 private:
  /// Writes the prefix, once.
  void open(std::string& out);
  /// Writes bytes that need no state: whole quanta, or the last.
  void encode_block(std::string_view bytes, std::string& out);
  /// Writes characters of the encoding in lines and in their spellings.
  void write_lines(std::string_view encoded, std::string& out);
  char* write_spelled(std::string_view encoded, char* to) const;
  /// The bytes that `write_lines` appends.
  size_t size_in_lines(std::string_view encoded) const;
  /// Characters that the open line has when it is full.
  uint32_t line_length() const {
    return first_line_ && form_.first != 0 ? form_.first : form_.column;
  }
  /// Writes elements of a list.
  void write_list(std::string_view bytes, std::string& out);
  void write_latin1(std::string_view bytes, std::string& out) const;
  void write_python(std::string_view bytes, std::string& out) const;
  /// Writes one line.
  void write_xxd(std::string_view bytes, std::string& out);

  Form form_;
  bool opened_ = false;
  bool first_line_ = true;  ///< of lines, or nothing written yet of a list
  uint64_t count_ = 0;      ///< bytes written of an object or a dump
  uint32_t in_line_ = 0;    ///< characters of the line so far
  std::string pending_;     ///< bytes of the open quantum or line
};

}  // namespace sluice

// The form of a run: everything needed to write its bytes again exactly as they stood in the
// string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

enum class Encoding : uint8_t { base64, base64url, hex, hex_upper, byte_array };

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
  bool padded = true;       ///< base64: padding stands where the length calls for it
  uint32_t column = 0;      ///< characters in a line; 0 when not wrapped
  uint32_t first = 0;       ///< characters in a shorter first line; 0 when it is like the others
  std::string separator;    ///< between lines of a wrapped run, or between elements of a byte array
  std::string plus = "+";   ///< spelling of `+` (base64 only)
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
/// `base64 base64url hex HEX bytes`, `nopad`, `w<column>`, `f<first>`, and literals as lower-case
/// hex: `b` separator, `u` plus, `s` slash, `e` pad, `p` prefix, `z` suffix; `data` stands for the
/// prefix `data:<mime_type>;base64,`. Example: `base64-w76-b0d0a`.
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
  void open(std::string& out);
  void encode_block(std::string_view bytes, std::string& out);
  void lay(std::string_view encoded, std::string& out);
  char* spell(std::string_view encoded, char* to) const;
  size_t laid_size(std::string_view encoded) const;
  uint32_t line_length() const {
    return first_line_ && form_.first != 0 ? form_.first : form_.column;
  }
  void list(std::string_view bytes, std::string& out);

  Form form_;
  bool opened_ = false;
  bool first_line_ = true;  ///< of lines, or nothing written yet of a byte array
  uint32_t in_line_ = 0;    ///< characters of the line so far
  std::string pending_;     ///< bytes of the open quantum: at most two
};

}  // namespace sluice

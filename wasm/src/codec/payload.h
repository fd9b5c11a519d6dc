// Encoded bytes in a string that was too short for the gate, or in a stored text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/codec.h"

namespace sluice {

/// Decoded bytes, and how they were written.
struct Payload {
  std::string bytes;
  Form form;
  std::string declared;  ///< the MIME type of a `data:` URI
  bool bare = false;     ///< a value of JSON outside of strings: an array of bytes
};

/// Whether every character may be part of base64 or hex, wrapped or not. Promises nothing more.
bool looks_encoded(std::string_view text);

/// Whether bytes are UTF-8 without control characters other than white space.
bool is_printable(std::string_view bytes);

/// Decodes a string that is entirely base64 (standard or URL alphabet, padded or not, wrapped at
/// one column) and at least one byte long. White space may surround it and `data:…;base64,` may
/// precede it. The form writes the same string again. Empty if the string is something else or its
/// form is not uniform.
std::optional<Payload> read_base64(std::string_view text);

/// Whether a text may be base64, however it is broken into lines: only base64 characters, white
/// space and markers of runs, and not words of a language.
bool may_be_base64(std::string_view text);

/// Decodes base64 with white space anywhere, as the readers of protocols do, also after
/// `data:…;base64,`. The form does not write the string again. Empty for words of a language, which
/// may decode by chance, unless the bytes are a known file.
std::optional<Payload> read_loose_base64(std::string_view text);

/// Decodes the string of a configured field: base64 as above, or hexadecimal digits of one case. If
/// both are possible, takes the one whose bytes are a known file, else hex if there are only hex
/// digits.
std::optional<Payload> read_encoded(std::string_view text);

/// Whether a payload's form writes exactly `text`, also after its name is parsed.
bool writes_again(const Payload& payload, std::string_view text);

/// Adapts the form so that it writes `source`, a string inside JSON in a string. PHP and others
/// write `/` as `\/` there.
bool fit_nested(Payload& payload, std::string_view source);

/// Takes text in pieces of any size and returns bytes as long as it is one base64 or base64url run.
/// Ignores white space.
class Base64Text {
 public:
  /// False if the text is no such run. Discard the bytes returned so far.
  bool push(std::string_view text, std::string& bytes);
  bool finish(std::string& bytes);

  /// The form that writes the bytes again. Valid after `finish`.
  Form form() const;
  /// Whether that form writes the same text: there was no white space in it.
  bool is_exact() const { return !loose_; }

 private:
  bool take(std::string_view word);
  bool take_words(std::string_view text);

  std::string open_;  // characters of the unfinished quantum
  size_t pads_ = 0;
  uint64_t characters_ = 0;
  bool url_ = false;
  bool standard_ = false;
  bool padded_ = true;
  bool loose_ = false;
};

}  // namespace sluice

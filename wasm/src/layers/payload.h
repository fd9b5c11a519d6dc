// Encoded bytes in a string that the gate left alone because it was short.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "layers/document.h"
#include "sluice/form.h"

namespace sluice::layers {

/// Decoded bytes and how they were written.
struct Payload {
  std::string bytes;
  Form form;
  std::string declared;  ///< the MIME type of a `data:` URI
  bool bare = false;     ///< a value of JSON outside of strings: an array of bytes
};

/// Whether every character could belong to base64 or hex, wrapped or not; nothing else is promised.
bool looks_encoded(std::string_view text);

/// Decodes a string that is base64 from end to end (standard or URL alphabet, padded or not,
/// wrapped at one column), at least one byte; around it may stand white space, before it
/// `data:…;base64,`. The form writes the same string again. Nothing when it is not, or is written
/// in no uniform form.
std::optional<Payload> read_base64(std::string_view text);

/// Whether a text that should be base64 may be it, however it is broken into lines: nothing but
/// characters of base64, white space and markers of runs, and not the words of a language.
bool may_be_base64(std::string_view text);

/// Decodes base64 with white space anywhere, as protocols' readers do, behind `data:…;base64,` too.
/// The form does not write the string again. Nothing for the words of a language, which may happen
/// to decode, unless their bytes are a known file.
std::optional<Payload> read_loose_base64(std::string_view text);

/// The encoding a person configured a field for: base64 as above or hexadecimal digits of one case,
/// where the text allows either the one whose bytes are a known file, else hex when there are hex
/// digits only.
std::optional<Payload> read_encoded(std::string_view text);

/// The bytes that an array node lists, at least one. The form writes its source again where that is
/// uniform, else the same values.
std::optional<Payload> read_byte_array(const Document& document, size_t array);

/// Whether a payload's form, also when read back from its name, gives exactly `text`.
bool writes_again(const Payload& payload, std::string_view text);

}  // namespace sluice::layers

// What a server says about a thing: names, types, sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "layers/result/document.h"

namespace sluice::layers {

/// Maximum length of a file name, in code points and in words.
inline constexpr size_t kMaxFilename = 80;
inline constexpr size_t kMaxFilenameWords = 6;

/// A safe file name: the last path component (after `/` or `\`), without control, bidi and
/// zero-width characters, and without leading dots, leading spaces or trailing ones. `_` replaces
/// characters that Windows forbids, and is put before `[sluice]`, which begins our own notes. A
/// long name is cut before its extension. Empty if nothing is left, or if the name reads like a
/// sentence: too many words and no extension.
std::string clean_filename(std::string_view name);

/// The file name in a URI: the last component of its path, percent-decoded and cleaned. Empty for
/// `data:` URIs and for paths that end in a slash.
std::string filename_of_uri(std::string_view uri);

/// The string under `key`. Empty if there is none or it holds markers.
std::string string_member(const Document& document, size_t object, std::string_view key);

/// The whole number under `key`, if there is one.
std::optional<uint64_t> number_member(const Document& document, size_t object,
                                      std::string_view key);

/// The file name among the members of an object (`filename`, `fileName`, `file_name`), cleaned.
/// Empty if there is none.
std::string sibling_filename(const Document& document, size_t object);

/// The file name of a resource, image or similar object: from its URI, `name`, `title`, or a file
/// name member.
std::string payload_filename(const Document& document, size_t holder);

}  // namespace sluice::layers

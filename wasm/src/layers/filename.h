// Names for artifacts, taken from what a server says.
#pragma once

#include <string>
#include <string_view>

namespace sluice::layers {

/// Longest file name, in code points and in words.
inline constexpr size_t kMaxFilename = 80;
inline constexpr size_t kMaxFilenameWords = 6;

/// A name that has the shape of a file's, whoever gave it: the last path component (of `/` and
/// `\`), without control, bidi and zero-width characters, leading dots and spaces or trailing ones,
/// with
/// `_` for what Windows forbids and before what begins in our own voice, `[sluice]`. One that is
/// too long is cut before its extension. Empty when nothing is left, and for a sentence: more words
/// than a name has and no extension.
std::string clean_filename(std::string_view name);

/// The name in a URI: the last component of its path, percent-encoding undone, cleaned. Empty for
/// `data:` URIs and where the path ends in a slash.
std::string filename_of_uri(std::string_view uri);

}  // namespace sluice::layers

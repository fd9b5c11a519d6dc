// Names for artifacts, taken from what a server says.
#pragma once

#include <string>
#include <string_view>

namespace sluice::layers {

/// Longest file name, in code points.
inline constexpr size_t kMaxFilename = 120;

/// A name fit for a file: the last path component (of `/` and `\`), without control, bidi and
/// zero-width characters, leading dots and spaces or trailing ones; at most kMaxFilename code
/// points. Empty when nothing is left.
std::string clean_filename(std::string_view name);

/// The name in a URI: the last component of its path, percent-encoding undone, cleaned. Empty for
/// `data:` URIs and where the path ends in a slash.
std::string filename_of_uri(std::string_view uri);

}  // namespace sluice::layers

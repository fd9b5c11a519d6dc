// Texts of tools that people and models read.
#pragma once

#include <string>
#include <string_view>

namespace sluice::files {

/// `text` (UTF-8 or WTF-8) on one line: white space of any kind becomes one space between words,
/// and what does not show goes: control characters, terminals' control sequences, bidi controls,
/// zero-width and tag characters. A lone surrogate becomes U+FFFD.
std::string one_line(std::string_view text);

}  // namespace sluice::files

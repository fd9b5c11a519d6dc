// The value of a JSON string's source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// The code unit written by the four hexadecimal digits at `at`, which must be there.
uint32_t hex4(const char* at);

/// Appends `inside` (valid string source without its quotes) with its escapes undone, as UTF-8. Two
/// escapes that form a surrogate pair give one code point; lone ones three bytes (WTF-8).
void append_unescaped(std::string& out, std::string_view inside);

}  // namespace sluice

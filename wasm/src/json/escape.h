// Escapes in JSON strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// The UTF-16 code unit in the four hexadecimal digits at `at`.
uint32_t hex4(const char* at);

/// Appends `inside` (valid string source without quotes) unescaped, as UTF-8. A pair of escaped
/// surrogates becomes one code point, a lone one three bytes (WTF-8).
void append_unescaped(std::string& out, std::string_view inside);

}  // namespace sluice

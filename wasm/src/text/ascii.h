// Characters of ASCII, as `char` or `uint8_t`, and numbers written with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// White space between the tokens of JSON (RFC 8259 §2).
inline constexpr std::string_view kWhite = " \t\r\n";

template <typename Char>
constexpr bool is_white(Char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

template <typename Char>
constexpr bool is_digit(Char c) {
  return c >= '0' && c <= '9';
}

template <typename Char>
constexpr bool is_upper(Char c) {
  return c >= 'A' && c <= 'Z';
}

template <typename Char>
constexpr bool is_lower(Char c) {
  return c >= 'a' && c <= 'z';
}

template <typename Char>
constexpr bool is_letter(Char c) {
  return is_upper(c) || is_lower(c);
}

template <typename Char>
constexpr bool is_alphanumeric(Char c) {
  return is_digit(c) || is_letter(c);
}

template <typename Char>
constexpr bool is_hex_digit(Char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

constexpr bool is_among(char c, std::string_view characters) {
  return characters.find(c) != std::string_view::npos;
}

constexpr char to_lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lowered(std::string_view text);

/// The number that decimal digits say, nothing but digits and at most `most` (up to 19) of them.
std::optional<uint64_t> decimal(std::string_view digits, size_t most);

/// Decimal digits in groups of three: `12,000`.
std::string grouped(uint64_t number);

}  // namespace sluice

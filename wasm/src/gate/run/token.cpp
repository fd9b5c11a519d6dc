#include "gate/run/token.h"

namespace sluice::gate {

namespace {

int hex_value(uint8_t c) {
  if (is_digit(c)) return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The code unit of `uXXXX` behind the u, or -1.
int32_t code_unit(const uint8_t* digits) {
  int32_t unit = 0;
  for (int i = 0; i < 4; ++i) {
    const int value = hex_value(digits[i]);
    if (value < 0) return -1;
    unit = unit * 16 + value;
  }
  return unit;
}

TokenKind escaped_unit(int32_t unit) {
  switch (unit) {
    case '+':
      return TokenKind::plus;
    case '/':
      return TokenKind::slash;
    case '=':
      return TokenKind::pad;
    default:
      return TokenKind::group;
  }
}

Token read_group(const uint8_t* at, const uint8_t* end, bool final) {
  const size_t k = count_backslashes(at, end);
  if (k > kMaxBackslashes) return {TokenKind::group, static_cast<uint32_t>(k & ~size_t{1})};
  if (at + k == end) {
    return final ? Token{TokenKind::group, static_cast<uint32_t>(k)} : Token{TokenKind::need, 0};
  }
  const auto one = static_cast<uint32_t>(k + 1);
  const auto none = static_cast<uint32_t>(k);
  switch (at[k]) {
    case '/':
      return {TokenKind::slash, one};
    case 'n':
      return {TokenKind::line_feed, one};
    case 'r':
      return {TokenKind::carriage, one};
    case 't':
      return {TokenKind::tab, one};
    // An even number of backslashes leaves the quote to end the string.
    case '"':
      return {TokenKind::quote, k % 2 == 1 ? one : none};
    case 'b':
    case 'f':
    case 'x':
      return {TokenKind::group, one};
    case 'u':
      break;
    default:
      return {TokenKind::group, none};
  }
  if (static_cast<size_t>(end - at) < k + 5) {
    return final ? Token{TokenKind::group, none} : Token{TokenKind::need, 0};
  }
  const int32_t unit = code_unit(at + k + 1);
  if (unit < 0) return {TokenKind::group, none};
  return {escaped_unit(unit), static_cast<uint32_t>(k + 5)};
}

Token read_percent(const uint8_t* at, const uint8_t* end, bool final) {
  if (end - at < 3) return final ? Token{TokenKind::other, 1} : Token{TokenKind::need, 0};
  const int high = hex_value(at[1]);
  const int low = hex_value(at[2]);
  if (high < 0 || low < 0) return {TokenKind::other, 1};
  switch (high * 16 + low) {
    case '\n':
      return {TokenKind::line_feed, 3};
    case '\r':
      return {TokenKind::carriage, 3};
    default:
      break;
  }
  const TokenKind kind = escaped_unit(high * 16 + low);
  return {kind, kind == TokenKind::group ? 1U : 3U};
}

}  // namespace

size_t count_backslashes(const uint8_t* at, const uint8_t* end) {
  size_t k = 0;
  while (at + k < end && at[k] == '\\' && k <= kMaxBackslashes) ++k;
  return k;
}

Token read_token(const uint8_t* at, const uint8_t* end, bool final, bool uri) {
  const uint8_t c = *at;
  if (is_alphanumeric(c)) return {TokenKind::letter, 1};
  switch (c) {
    case '+':
      return {TokenKind::plus, 1};
    case '/':
      return {TokenKind::slash, 1};
    case '-':
      return {TokenKind::minus, 1};
    case '_':
      return {TokenKind::underscore, 1};
    case '=':
      return {TokenKind::pad, 1};
    case '"':
      return {TokenKind::quote, 1};
    case '\\':
      return read_group(at, end, final);
    case '%':
      return uri ? read_percent(at, end, final) : Token{TokenKind::other, 1};
    default:
      return {TokenKind::other, 1};
  }
}

}  // namespace sluice::gate

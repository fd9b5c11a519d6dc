#include "tables/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "text/ascii.h"

namespace sluice::tables {

namespace {

/// Digits that a 64-bit integer holds whatever they are, and the longest text of a number.
constexpr size_t kSafeDigits = 18;
constexpr size_t kMaxChars = 40;

/// Digits on either side of a decimal comma.
constexpr size_t kMaxFraction = 15;

/// Whole numbers up to this one are exact in a double, as are these powers of ten: their quotient
/// is rounded once, and so the nearest double.
constexpr int64_t kExact = int64_t{1} << 53;
constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

Cell text_cell(std::string_view text) {
  Cell cell;
  cell.kind = Cell::Kind::kText;
  cell.text = text;
  return cell;
}

Cell real_cell(std::string_view text, double real) {
  Cell cell;
  cell.kind = Cell::Kind::kReal;
  cell.real = real;
  cell.text = text;
  return cell;
}

/// One whose digits do not fit the fast way.
Cell read_long(std::string_view text, bool is_whole) {
  if (is_whole) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return text_cell(text);
    Cell cell;
    cell.kind = Cell::Kind::kInteger;
    cell.integer = value;
    cell.text = text;
    return cell;
  }
  std::array<char, kMaxChars + 1> copy{};
  text.copy(copy.data(), kMaxChars);
  const double real = std::strtod(copy.data(), nullptr);
  const bool is_finite =
      real <= std::numeric_limits<double>::max() && real >= std::numeric_limits<double>::lowest();
  return is_finite ? real_cell(text, real) : text_cell(text);
}

}  // namespace

Cell read_number(std::string_view text) {
  if (text.empty() || text.size() > kMaxChars) return text_cell(text);
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool is_negative = *at == '-';
  if (is_negative) ++at;
  if (at == end || !is_digit(*at)) return text_cell(text);
  const char* const first = at;
  uint64_t value = 0;
  while (at != end && is_digit(*at)) value = value * 10 + static_cast<uint64_t>(*at++ - '0');
  auto digits = static_cast<size_t>(at - first);
  if (*first == '0' && digits > 1) return text_cell(text);
  if (at == end) {
    if (digits > kSafeDigits) return read_long(text, true);
    Cell cell;
    cell.kind = Cell::Kind::kInteger;
    cell.integer = is_negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
    cell.text = text;
    return cell;
  }
  size_t fraction = 0;
  const bool has_point = *at == '.';
  if (has_point) {
    const char* const point = ++at;
    while (at != end && is_digit(*at)) value = value * 10 + static_cast<uint64_t>(*at++ - '0');
    fraction = static_cast<size_t>(at - point);
    if (fraction == 0) return text_cell(text);
    digits += fraction;
  }
  if (at != end) {
    // An exponent without a point needs its sign: `12E4` is a code.
    if (*at != 'e' && *at != 'E') return text_cell(text);
    ++at;
    const bool has_sign = at != end && (*at == '+' || *at == '-');
    if (has_sign) ++at;
    if (at == end || (!has_point && !has_sign)) return text_cell(text);
    while (at != end && is_digit(*at)) ++at;
    return at == end ? read_long(text, false) : text_cell(text);
  }
  if (digits > kSafeDigits || value > static_cast<uint64_t>(kExact) || fraction >= kPowers.size()) {
    return read_long(text, false);
  }
  const double real = static_cast<double>(value) / kPowers[fraction];
  return real_cell(text, is_negative ? -real : real);
}

std::optional<Comma> find_comma(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const size_t comma = text.find(',');
  const std::string_view whole = text.substr(0, comma);
  const std::string_view fraction =
      comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  const auto are_digits = [](std::string_view some) {
    return std::all_of(some.begin(), some.end(), [](char each) { return is_digit(each); });
  };
  const bool has_comma = comma != std::string_view::npos;
  if (whole.empty() || fraction.size() > kMaxFraction || (has_comma && fraction.empty()) ||
      !are_digits(fraction)) {
    return std::nullopt;
  }
  const size_t first = std::min(whole.find('.'), whole.size());
  if (first == whole.size()) {
    if (whole.size() > kMaxFraction || !are_digits(whole)) return std::nullopt;
  } else {
    // Points stand before each three digits.
    if (first == 0 || first > 3 || (whole.size() - first) % 4 != 0) return std::nullopt;
    for (size_t at = 0; at < whole.size(); ++at) {
      const bool is_point = at >= first && (at - first) % 4 == 0;
      if (is_point ? whole[at] != '.' : !is_digit(whole[at])) return std::nullopt;
    }
  }
  if (!has_comma) return Comma::kNone;
  const bool may_be_thousands =
      first == whole.size() && whole.size() <= 3 && whole[0] != '0' && fraction.size() == 3;
  return may_be_thousands ? Comma::kThousands : Comma::kDecimal;
}

std::string write_point(std::string_view text) {
  std::string number;
  for (const char character : text) {
    if (character != '.') number += character == ',' ? '.' : character;
  }
  return number;
}

}  // namespace sluice::tables

#include "config/valued.h"

#include <algorithm>

namespace sluice::config {

namespace {

// 1.797…e308, from which on a double is infinite (halfway above the largest one), as 0.1797…e309.
constexpr std::string_view kInfinite = "1797693134862315807937";
constexpr int64_t kInfiniteExponent = 309;

// Far above what the digits of a number that the tape accepts can make up for.
constexpr int64_t kHugeExponent = 1'000'000;

/// The exponent behind an `e`, no further than kHugeExponent.
int64_t exponent_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int64_t exponent = 0;
  for (const char c : text) exponent = std::min(exponent * 10 + (c - '0'), kHugeExponent);
  return negative ? -exponent : exponent;
}

/// Reads a number as 0.digits × 10^exponent, without leading zeros.
bool is_finite(std::string_view number) {
  const size_t mark = number.find_first_of("eE");
  int64_t exponent = 0;
  if (mark != std::string_view::npos) exponent = exponent_of(number.substr(mark + 1));
  std::string digits;
  bool fraction = false;
  for (const char c : number.substr(0, mark)) {
    if (c == '.') fraction = true;
    if (c < '0' || c > '9') continue;
    if (c != '0' || !digits.empty()) digits += c;
    if (!fraction && !digits.empty()) ++exponent;
    if (fraction && digits.empty()) --exponent;
  }
  if (digits.empty() || exponent != kInfiniteExponent) {
    return digits.empty() || exponent < kInfiniteExponent;
  }
  return digits < kInfinite;
}

/// Surrogates are those three-byte sequences that begin with ED A0 to ED BF.
bool has_surrogate(std::string_view text) {
  for (size_t at = text.find('\xED'); at != std::string_view::npos; at = text.find('\xED', at + 1))
    if (static_cast<uint8_t>(text[at + 1]) >= 0xA0) return true;
  return false;
}

}  // namespace

bool is_valued(const Tape& tape) {
  for (size_t at = 0; at < tape.size(); ++at) {
    if (tape[at].type == Type::number && !is_finite(tape.source(at))) return false;
    if (tape[at].type == Type::string && has_surrogate(tape.string(at))) return false;
  }
  return true;
}

}  // namespace sluice::config

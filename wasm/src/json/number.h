// Numbers of JSON (RFC 8259 §6).
#pragma once

#include <bit>
#include <cstdint>

#include "text/ascii.h"
#include "text/block.h"

namespace sluice {

static inline const uint8_t* behind_digits(const uint8_t* at, const uint8_t* end) {
  while (end - at >= ptrdiff_t{kBlockBytes}) {
    const auto digits = std::countr_one(Block(at).from('0', 9).bits());
    at += digits;
    if (digits < int{kBlockBytes}) return at;
  }
  while (at < end && is_digit(*at)) ++at;
  return at;
}

/// number = [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ( "e" / "E" ) [ sign ] 1*digit ]
///
/// Returns where it ends, or `at` if there is none.
static inline const uint8_t* behind_number(const uint8_t* const at, const uint8_t* end) {
  const uint8_t* const whole = at + (at != end && *at == '-' ? 1 : 0);
  const uint8_t* next = behind_digits(whole, end);
  if (next == whole || (*whole == '0' && next != whole + 1)) return at;
  if (next != end && *next == '.') {
    const uint8_t* const fraction = next + 1;
    next = behind_digits(fraction, end);
    if (next == fraction) return at;
  }
  if (next != end && (*next | 0x20) == 'e') {
    const uint8_t* exponent = next + 1;
    if (exponent != end && (*exponent == '+' || *exponent == '-')) ++exponent;
    next = behind_digits(exponent, end);
    if (next == exponent) return at;
  }
  return next;
}

}  // namespace sluice

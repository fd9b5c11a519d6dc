#include "gate/scan.h"

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

namespace sluice::gate {

namespace {

bool stops(uint8_t byte) {
  return byte == '"' || byte == '\\' || byte == '[' || byte < 0x20;
}
bool in_range(uint8_t byte) {
  return byte >= 0x2B && byte <= 0x7A;
}
// In JSON within a string every other value has two of these, and nothing else depends on them.
bool is_escaped_quote(const uint8_t* at, const uint8_t* end) {
  return end - at >= 2 && at[0] == '\\' && at[1] == '"';
}

}  // namespace

Scan scan_string_scalar(const uint8_t* at, const uint8_t* end, const uint8_t* stretch) {
  for (; static_cast<size_t>(at - stretch) < kStretch; ++at) {
    if (is_escaped_quote(at, end)) {
      ++at;
    } else if (at == end || stops(*at)) {
      return {at, stretch, false};
    }
    if (!in_range(*at)) stretch = at + 1;
  }
  return {at, stretch, true};
}

namespace {

// U+FFFD begins with EF and C1 controls with C2; C0 controls have to be escaped.
bool may_hold_damage_scalar(const uint8_t* at, const uint8_t* end) {
  for (; at < end; ++at) {
    const bool is_escape = *at == '\\' && end - at >= 2 && (at[1] == 'u' || at[1] == 'b');
    if (is_escape || *at == 0xEF || *at == 0xC2) return true;
  }
  return false;
}

}  // namespace

#ifdef __wasm_simd128__

ShortString short_string(const uint8_t* at, const uint8_t* end) {
  const v128_t control = wasm_i8x16_splat(0x20);
  // Continuation bytes are 10xxxxxx, as signed numbers those below -64.
  const v128_t limit = wasm_i8x16_splat(-64);
  ShortString found;
  for (; found.bytes + 16 <= kShortString && end - at >= 16; at += 16) {
    const v128_t bytes = wasm_v128_load(at);
    const uint32_t quotes = wasm_i8x16_bitmask(wasm_i8x16_eq(bytes, wasm_i8x16_splat('"')));
    const uint32_t others =
        wasm_i8x16_bitmask(wasm_v128_or(wasm_v128_or(wasm_i8x16_eq(bytes, wasm_i8x16_splat('\\')),
                                                     wasm_i8x16_eq(bytes, wasm_i8x16_splat('['))),
                                        wasm_u8x16_lt(bytes, control)));
    const uint32_t length = quotes == 0 ? 16 : static_cast<uint32_t>(__builtin_ctz(quotes));
    const uint32_t before = (1U << length) - 1;
    if ((others & before) != 0) return found;
    const uint32_t tails = wasm_i8x16_bitmask(wasm_i8x16_lt(bytes, limit)) & before;
    found.bytes += length;
    found.characters += length - static_cast<uint32_t>(__builtin_popcount(tails));
    found.closed = quotes != 0;
    if (found.closed) return found;
  }
  return found;
}

Scan scan_string(const uint8_t* at, const uint8_t* end, const uint8_t* stretch) {
  const v128_t quote = wasm_i8x16_splat('"');
  const v128_t backslash = wasm_i8x16_splat('\\');
  const v128_t bracket = wasm_i8x16_splat('[');
  const v128_t control = wasm_i8x16_splat(0x20);
  const v128_t low = wasm_i8x16_splat(0x2B);
  const v128_t width = wasm_i8x16_splat(0x7A - 0x2B);
  while (end - at >= 16) {
    const v128_t bytes = wasm_v128_load(at);
    const v128_t stop =
        wasm_v128_or(wasm_v128_or(wasm_i8x16_eq(bytes, quote), wasm_i8x16_eq(bytes, backslash)),
                     wasm_v128_or(wasm_i8x16_eq(bytes, bracket), wasm_u8x16_lt(bytes, control)));
    // One unsigned comparison tests both ends of the range: bytes below 0x2B wrap around to the
    // top.
    const v128_t outside = wasm_u8x16_gt(wasm_i8x16_sub(bytes, low), width);
    const uint32_t stop_bits = wasm_i8x16_bitmask(stop);
    uint32_t outside_bits = wasm_i8x16_bitmask(outside);
    const uint32_t length = stop_bits == 0 ? 16 : static_cast<uint32_t>(__builtin_ctz(stop_bits));
    outside_bits &= (1U << length) - 1;
    if (outside_bits != 0) {
      const uint8_t* first = at + __builtin_ctz(outside_bits);
      if (static_cast<size_t>(first - stretch) >= kStretch) return {first, stretch, true};
      stretch = at + (32 - __builtin_clz(outside_bits));
    }
    at += length;
    if (static_cast<size_t>(at - stretch) >= kStretch) return {at, stretch, true};
    if (stop_bits == 0) continue;
    if (!is_escaped_quote(at, end)) return {at, stretch, false};
    at += 2;
    stretch = at;
  }
  return scan_string_scalar(at, end, stretch);
}

bool may_hold_damage(std::string_view source) {
  const auto* at = reinterpret_cast<const uint8_t*>(source.data());
  const auto* const end = at + source.size();
  const auto is = [](v128_t bytes, int8_t byte) {
    return wasm_i8x16_eq(bytes, wasm_i8x16_splat(byte));
  };
  for (; end - at > 16; at += 16) {
    const v128_t bytes = wasm_v128_load(at);
    const v128_t next = wasm_v128_load(at + 1);
    const v128_t escape =
        wasm_v128_and(is(bytes, '\\'), wasm_v128_or(is(next, 'u'), is(next, 'b')));
    const v128_t high =
        wasm_v128_or(is(bytes, static_cast<int8_t>(0xEF)), is(bytes, static_cast<int8_t>(0xC2)));
    if (wasm_v128_any_true(wasm_v128_or(escape, high))) return true;
  }
  return may_hold_damage_scalar(at, end);
}

#else

bool may_hold_damage(std::string_view source) {
  const auto* at = reinterpret_cast<const uint8_t*>(source.data());
  return may_hold_damage_scalar(at, at + source.size());
}

ShortString short_string(const uint8_t* at, const uint8_t* end) {
  ShortString found;
  for (; at < end && found.bytes < kShortString; ++at, ++found.bytes) {
    if (stops(*at)) {
      found.closed = *at == '"';
      return found;
    }
    found.characters += (*at & 0xC0) != 0x80;
  }
  return found;
}

Scan scan_string(const uint8_t* at, const uint8_t* end, const uint8_t* stretch) {
  return scan_string_scalar(at, end, stretch);
}

#endif

}  // namespace sluice::gate

#include "describe/code_point.h"

namespace sluice {
namespace {

/// What a lead byte promises: the bytes that follow, and the range of the first of them.
struct Lead {
  size_t trail = 0;
  uint8_t low = 0x80;
  uint8_t high = 0xbf;
};

Lead lead_of(uint8_t byte) {
  if (byte >= 0xc2 && byte <= 0xdf) return {1};
  if (byte == 0xe0) return {2, 0xa0, 0xbf};
  if (byte >= 0xe1 && byte <= 0xef) return {2};  // 0xed: surrogates are caught by value
  if (byte == 0xf0) return {3, 0x90, 0xbf};
  if (byte >= 0xf1 && byte <= 0xf3) return {3};
  if (byte == 0xf4) return {3, 0x80, 0x8f};
  return {};
}

}  // namespace

CodePoint read_code_point(std::string_view text, size_t at) {
  const auto byte = [&](size_t index) { return static_cast<uint8_t>(text[index]); };
  if (byte(at) < 0x80) return {byte(at), 1};
  const Lead lead = lead_of(byte(at));
  if (lead.trail == 0) return {};
  //   1110xxxx 10xxxxxx 10xxxxxx   the lead keeps 6 - trail bits, each trail byte adds 6
  char32_t value = byte(at) & ((0x40u >> lead.trail) - 1);
  for (size_t i = 1; i <= lead.trail; ++i) {
    if (at + i >= text.size()) return {kReplacement, i};
    const uint8_t next = byte(at + i);
    const bool fits = i == 1 ? next >= lead.low && next <= lead.high : (next & 0xc0) == 0x80;
    if (!fits) return {kReplacement, i};
    value = (value << 6) | (next & 0x3fu);
  }
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  return {surrogate ? kReplacement : value, lead.trail + 1};
}

}  // namespace sluice

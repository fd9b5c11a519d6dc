#include "gate/scan.h"

#include <algorithm>
#include <bit>

#include "json/scan.h"
#include "text/block.h"

namespace sluice::gate {

namespace {

// The range of runs.
template <typename Bytes>
auto is_inside(Bytes bytes) {
  return bytes.from(0x2B, 0x7A - 0x2B);
}

// Brackets, backslashes and control bytes.
template <typename Bytes>
auto needs_lexer(Bytes bytes) {
  static_assert('[' + 1 == '\\');
  return bytes.from('[', 1) | bytes.below(0x20);
}

template <typename Bytes>
auto is_special(Bytes bytes) {
  return bytes.is('"') | needs_lexer(bytes);
}

template <typename Bytes>
auto is_tail(Bytes bytes) {
  return bytes.from(0x80, 0x3F);
}

// U+FFFD begins with EF, and C1 controls with C2.
template <typename Bytes>
auto may_begin_damage(Bytes bytes) {
  return bytes.is(0xEF) | bytes.is(0xC2);
}

}  // namespace

Scan scan_string_scalar(const uint8_t* at, const uint8_t* end, const uint8_t* stretch) {
  Scan scan{at, stretch};
  for (;;) {
    const bool watches = scan.stretch != nullptr;
    scan.long_stretch = watches && static_cast<size_t>(scan.at - scan.stretch) >= kStretch;
    if (scan.long_stretch || scan.at == end) return scan;
    const Byte byte(static_cast<char>(*scan.at));
    const size_t escape = *scan.at == '\\' ? escape_bytes(scan.at, end) : 0;
    if (escape == 0 && is_special(byte)) return scan;
    if (escape == 2 && watches && (end - scan.at == 2 || may_spell_bytes(scan.at))) return scan;
    const bool inside = escape > 0 ? scan.at[1] != '"' : is_inside(byte);
    scan.ascii = scan.ascii && !byte.high();
    scan.sound =
        scan.sound && !(escape > 0 ? may_stand_for_damage(scan.at[1]) : may_begin_damage(byte));
    scan.at += std::max<size_t>(escape, 1);
    if (!inside && watches) scan.stretch = scan.at;
  }
}

namespace {

/// Four blocks of a string; the first byte's bit is the lowest.
struct Marks {
  explicit Marks(Blocks blocks)
      : inside(blocks.bits([](Block bytes) { return is_inside(bytes); })),
        specials(blocks.bits([](Block bytes) { return is_special(bytes); })),
        ascii(!blocks.any_high()),
        sound(ascii || !blocks.any([](Block bytes) { return may_begin_damage(bytes); })) {}

  uint64_t inside;
  uint64_t specials;
  bool ascii;
  bool sound;
};

/// Where the blocks at `at` stop, or where an escape begins that their end cuts. Escaped quotes are
/// taken out of stretches.
size_t pass_escapes(Marks& marks, const uint8_t* at, bool watches) {
  while (marks.specials != 0) {
    const auto place = static_cast<size_t>(std::countr_zero(marks.specials));
    const uint8_t* const special = at + place;
    if (*special != '\\' || escape_bytes(special, at + Blocks::kBytes) == 0) return place;
    if (watches && (place + 2 == Blocks::kBytes || may_spell_bytes(special))) return place;
    const uint64_t pair = uint64_t{3} << place;
    marks.specials &= ~pair;
    if (special[1] == '"') marks.inside &= ~pair;
    marks.sound = marks.sound && !may_stand_for_damage(special[1]);
  }
  return Blocks::kBytes;
}

/// Where sixteen ones in a row begin, as bits.
uint64_t long_stretches(uint64_t inside) {
  for (int step = 1; step < static_cast<int>(kStretch); step *= 2) inside &= inside >> step;
  return inside;
}

}  // namespace

Scan scan_string(const uint8_t* at, const uint8_t* end, const uint8_t* stretch) {
  const bool watches = stretch != nullptr;
  bool ascii = true;
  bool sound = true;
  while (end - at >= static_cast<ptrdiff_t>(Blocks::kBytes)) {
    Marks marks{Blocks(at)};
    const size_t size = pass_escapes(marks, at, watches);
    const uint64_t before = size == Blocks::kBytes ? ~uint64_t{0} : (uint64_t{1} << size) - 1;
    const uint64_t inside = watches ? marks.inside & before : 0;
    const auto first = static_cast<size_t>(std::countr_one(inside));
    ascii = ascii && marks.ascii;
    sound = sound && marks.sound;
    if (watches && static_cast<size_t>(at - stretch) + first >= kStretch) {
      return {at, stretch, true, ascii, sound};
    }
    const uint64_t found = long_stretches(inside);
    if (found != 0) return {at, at + std::countr_zero(found), true, ascii, sound};
    const uint64_t outside = before & ~inside;
    if (watches && outside != 0) stretch = at + std::bit_width(outside);
    at += size;
    const bool whole = size == Blocks::kBytes;
    const bool cut = !whole && size > Blocks::kBytes - kMaxEscape && *at == '\\';
    if (!whole && !cut) return {at, stretch, false, ascii, sound};
  }
  Scan rest = scan_string_scalar(at, end, stretch);
  rest.ascii = rest.ascii && ascii;
  rest.sound = rest.sound && sound;
  return rest;
}

ShortString short_string(const uint8_t* at, const uint8_t* end) {
  ShortString found;
  while (found.bytes + kBlockBytes <= kShortString && end - at >= ptrdiff_t{kBlockBytes}) {
    const Block bytes(at);
    const uint32_t specials = is_special(bytes).bits();
    const auto length = static_cast<uint32_t>(std::countr_zero(specials | 1U << kBlockBytes));
    const uint32_t tails = is_tail(bytes).bits() & ((1U << length) - 1);
    found.bytes += length;
    found.characters += length - static_cast<uint32_t>(std::popcount(tails));
    found.closed = length < kBlockBytes && at[length] == '"';
    if (length < kBlockBytes) return found;
    at += kBlockBytes;
  }
  return found;
}

ShortStrings::ShortStrings(const uint8_t* begin) : begin_(begin) {
  const Blocks blocks(begin);
  quotes_ = blocks.bits([](Block bytes) { return bytes.is('"'); });
  others_ = blocks.bits([](Block bytes) { return needs_lexer(bytes); });
  tails_ = blocks.any_high() ? blocks.bits([](Block bytes) { return is_tail(bytes); }) : 0;
}

}  // namespace sluice::gate

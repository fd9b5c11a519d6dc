#include "gate/scan.h"

#include <algorithm>
#include <bit>

#include "json/scan.h"
#include "text/block.h"

namespace sluice::gate {

namespace {

bool stops(uint8_t byte) {
  return byte == '"' || byte == '\\' || byte == '[' || byte < 0x20;
}
bool in_range(uint8_t byte) {
  return byte >= 0x2B && byte <= 0x7A;
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
    const uint8_t byte = *scan.at;
    const size_t escape = byte == '\\' ? escape_bytes(scan.at, end) : 0;
    if (escape == 0 && stops(byte)) return scan;
    const bool inside = escape > 0 ? scan.at[1] != '"' : in_range(byte);
    scan.ascii = scan.ascii && byte < 0x80;
    scan.sound = scan.sound && (escape > 0 ? !may_stand_for_damage(scan.at[1])
                                           : !may_begin_damage(Byte(static_cast<char>(byte))));
    scan.at += std::max<size_t>(escape, 1);
    if (!inside && watches) scan.stretch = scan.at;
  }
}

namespace {

/// Four blocks of a string; the first byte's bit is the lowest.
struct Marks {
  static constexpr size_t kBytes = 4 * kBlockBytes;

  explicit Marks(const uint8_t* at)
      : Marks(Block(at), Block(at + kBlockBytes), Block(at + 2 * kBlockBytes),
              Block(at + 3 * kBlockBytes)) {}

  uint64_t inside;    // the range of runs
  uint64_t specials;  // quotes, backslashes, brackets and control bytes
  bool ascii;
  bool sound;

 private:
  Marks(Block a, Block b, Block c, Block d)
      : inside(join(is_inside(a), is_inside(b), is_inside(c), is_inside(d))),
        specials(join(is_special(a), is_special(b), is_special(c), is_special(d))),
        ascii(!(a | b | c | d).high().any()),
        sound(ascii || !(may_begin_damage(a) | may_begin_damage(b) | may_begin_damage(c) |
                         may_begin_damage(d))
                            .any()) {}

  static Flags is_inside(Block bytes) { return bytes.from(0x2B, 0x7A - 0x2B); }
  static Flags is_special(Block bytes) {
    static_assert('[' + 1 == '\\');
    return bytes.is('"') | bytes.from('[', 1) | bytes.below(0x20);
  }
  static uint64_t join(Flags a, Flags b, Flags c, Flags d) {
    return a.bits() | uint64_t{b.bits()} << kBlockBytes | uint64_t{c.bits()} << 2 * kBlockBytes |
           uint64_t{d.bits()} << 3 * kBlockBytes;
  }
};

/// Where the blocks at `at` stop, or where an escape begins that their end cuts. Escaped quotes are
/// taken out of stretches.
size_t pass_escapes(Marks& marks, const uint8_t* at) {
  while (marks.specials != 0) {
    const auto place = static_cast<size_t>(std::countr_zero(marks.specials));
    const uint8_t* const special = at + place;
    if (*special != '\\' || escape_bytes(special, at + Marks::kBytes) == 0) return place;
    const uint64_t pair = uint64_t{3} << place;
    marks.specials &= ~pair;
    if (special[1] == '"') marks.inside &= ~pair;
    marks.sound = marks.sound && !may_stand_for_damage(special[1]);
  }
  return Marks::kBytes;
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
  while (end - at >= static_cast<ptrdiff_t>(Marks::kBytes)) {
    Marks marks(at);
    const size_t size = pass_escapes(marks, at);
    const uint64_t before = size == Marks::kBytes ? ~uint64_t{0} : (uint64_t{1} << size) - 1;
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
    const bool whole = size == Marks::kBytes;
    const bool cut = !whole && size > Marks::kBytes - kMaxEscape && *at == '\\';
    if (!whole && !cut) return {at, stretch, false, ascii, sound};
  }
  Scan rest = scan_string_scalar(at, end, stretch);
  rest.ascii = rest.ascii && ascii;
  rest.sound = rest.sound && sound;
  return rest;
}

ShortString short_string(const uint8_t* at, const uint8_t* end) {
  ShortString found;
  for (;
       found.bytes + kBlockBytes <= kShortString && end - at >= static_cast<ptrdiff_t>(kBlockBytes);
       at += kBlockBytes) {
    const Block bytes(at);
    const uint32_t quotes = bytes.is('"').bits();
    const uint32_t others = (bytes.is('\\') | bytes.is('[') | bytes.below(0x20)).bits();
    const uint32_t tails = bytes.from(0x80, 0x3F).bits();
    const uint32_t length =
        quotes == 0 ? kBlockBytes : static_cast<uint32_t>(std::countr_zero(quotes));
    const uint32_t before = (1U << length) - 1;
    if ((others & before) != 0) return found;
    found.bytes += length;
    found.characters += length - static_cast<uint32_t>(std::popcount(tails & before));
    found.closed = quotes != 0;
    if (found.closed) return found;
  }
  return found;
}

}  // namespace sluice::gate

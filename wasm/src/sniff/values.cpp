// Values that are written as bytes: MessagePack and CBOR (RFC 8949), told by maps whose keys are
// words; BSON by its size.
#include <algorithm>
#include <vector>

#include "sniff/recognisers.h"

namespace sluice::sniffing {

namespace {

/// What begins at some place, and where the next thing stands.
struct Item {
  enum class Kind : uint8_t { scalar, text, array, map, wrong } kind = Kind::wrong;
  uint64_t count = 0;  ///< of bytes, elements, or pairs
  uint64_t next = 0;
};

Item read_messagepack(Bytes head, uint64_t at) {
  using enum Item::Kind;
  const uint32_t lead = u8(head, at);
  const auto width = [lead](uint32_t first) { return uint64_t{1} << (lead - first); };
  const auto number = [&](uint64_t bytes) { return be(head, at + 1, static_cast<size_t>(bytes)); };
  const auto sized = [&](uint32_t first, uint64_t more) {
    return at + 1 + width(first) + more + number(width(first));
  };
  if (lead < 0x80 || lead >= 0xE0) return {scalar, 0, at + 1};
  if (lead < 0x90) return {map, lead & 15, at + 1};
  if (lead < 0xA0) return {array, lead & 15, at + 1};
  if (lead < 0xC0) return {text, lead & 31, at + 1 + (lead & 31)};
  if (lead == 0xC1) return {};
  if (lead < 0xC4) return {scalar, 0, at + 1};
  if (lead < 0xC7) return {scalar, 0, sized(0xC4, 0)};
  if (lead < 0xCA) return {scalar, 0, sized(0xC7, 1)};
  if (lead < 0xCC) return {scalar, 0, at + 1 + width(0xC8)};
  if (lead < 0xD0) return {scalar, 0, at + 1 + width(0xCC)};
  if (lead < 0xD4) return {scalar, 0, at + 1 + width(0xD0)};
  if (lead < 0xD9) return {scalar, 0, at + 2 + width(0xD4)};
  if (lead < 0xDC) return {text, number(width(0xD9)), sized(0xD9, 0)};
  const uint64_t bytes = lead % 2 == 0 ? 2 : 4;
  return {lead < 0xDE ? array : map, number(bytes), at + 1 + bytes};
}

Item read_cbor(Bytes head, uint64_t at) {
  using enum Item::Kind;
  constexpr int kMostTags = 4;
  for (int tags = 0; tags <= kMostTags; ++tags) {
    const uint32_t lead = u8(head, at);
    const uint32_t low = lead & 31;
    if (low > 27) return {};
    const uint64_t bytes = low < 24 ? 0 : uint64_t{1} << (low - 24);
    const uint64_t number = low < 24 ? low : be(head, at + 1, static_cast<size_t>(bytes));
    at += 1 + bytes;
    const uint32_t type = lead >> 5;
    if (type == 2) return {scalar, 0, at + number};
    if (type == 3) return {text, number, at + number};
    if (type == 4) return {array, number, at};
    if (type == 5) return {map, number, at};
    if (type != 6) return {scalar, 0, at};
  }
  return {};
}

bool is_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7F; });
}

/// Whether what is seen is one value whose maps have words for keys, two or more of them.
bool is_keyed(Bytes head, Item (*read)(Bytes, uint64_t)) {
  constexpr size_t kDeepest = 16;
  constexpr int kMostItems = 400;
  constexpr uint64_t kLongestKey = 64;
  struct Level {
    bool map;
    uint64_t left;
  };
  std::vector<Level> levels{{false, 1}};
  uint64_t at = 0;
  int keys = 0;
  for (int i = 0; i < kMostItems && !levels.empty(); ++i) {
    Level& level = levels.back();
    if (level.left == 0) {
      levels.pop_back();
      continue;
    }
    if (at >= head.size()) break;
    const Item item = read(head, at);
    const bool key = level.map && level.left % 2 == 0;
    --level.left;
    if (item.kind == Item::Kind::wrong || item.next <= at || item.next > uint64_t{1} << 40) {
      return false;
    }
    if (key) {
      if (item.kind != Item::Kind::text || item.count > kLongestKey) return false;
      const uint64_t begin = std::min<uint64_t>(item.next - item.count, head.size());
      const std::string_view word = as_text(head.subspan(static_cast<size_t>(begin)));
      if (!is_word(word.substr(0, static_cast<size_t>(item.count)))) return false;
      ++keys;
    }
    at = item.next;
    const bool opens = item.kind == Item::Kind::map || item.kind == Item::Kind::array;
    if (!opens) continue;
    if (levels.size() >= kDeepest) return false;
    const bool is_map = item.kind == Item::Kind::map;
    levels.push_back({is_map, item.count * (is_map ? 2 : 1)});
  }
  const bool ended = levels.empty() || (levels.size() == 1 && levels[0].left == 0);
  return keys >= 2 && (!ended || at == head.size());
}

}  // namespace

std::optional<Match> messagepack(Bytes head) {
  if (!is_keyed(head, read_messagepack)) return std::nullopt;
  return Match{Kind::messagepack, false};
}

std::optional<Match> cbor(Bytes head) {
  const bool told = stands(head, 0, "\xD9\xD9\xF7");
  if (!told && !is_keyed(head, read_cbor)) return std::nullopt;
  return Match{Kind::cbor, false};
}

//   size:4, of the whole; then a type:1 and a name, NUL; and at the end NUL   (bsonspec.org)
bool is_bson(const Glimpse& file) {
  const uint32_t type = u8(file.head, 4);
  const std::string_view name =
      as_text(file.head).substr(std::min<size_t>(5, file.head.size()), 64);
  const size_t end = name.find('\0');
  return file.size > 5 && le32(file.head, 0) == file.size && type > 0 && type < 0x14 &&
         end != name.npos && end > 0 && is_word(name.substr(0, end)) &&
         holds(file.from(file.size - 1), 0, 1) && u8(file.from(file.size - 1), 0) == 0;
}

}  // namespace sluice::sniffing

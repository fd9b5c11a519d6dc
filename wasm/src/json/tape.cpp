#include "sluice/tape.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/segment.h"
#include "sluice/status.h"
#include "text/block.h"

namespace sluice {

// --- markers ---------------------------------------------------------------------------------

void append_marker(std::string& out, uint32_t index) {
  out += kMarkerOpen;
  for (int shift = 12; shift >= 0; shift -= 4) out += "0123456789abcdef"[(index >> shift) & 0xF];
  out += kMarkerClose;
}

int32_t marker_at(std::string_view text, size_t at) {
  if (at >= text.size() || text.size() - at < kMarkerBytes) return -1;
  if (text[at] != kMarkerOpen || text[at + kMarkerBytes - 1] != kMarkerClose) return -1;
  int32_t index = 0;
  for (const char c : text.substr(at + 1, kMarkerBytes - 2)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) return -1;
    index = index * 16 + (digit ? c - '0' : c - 'a' + 10);
  }
  return index;
}

// --- the tape --------------------------------------------------------------------------------

std::string_view Tape::source(size_t index) const {
  const Node& node = nodes_[index];
  return text_.substr(node.begin, node.end - node.begin);
}

std::string Tape::string(size_t index) const {
  std::string value;
  if (nodes_[index].type != Type::string) return value;
  const std::string_view quoted = source(index);
  append_unescaped(value, quoted.substr(1, quoted.size() - 2));
  return value;
}

bool Tape::is_string(size_t index, std::string_view value) const {
  if (nodes_[index].type != Type::string) return false;
  const std::string_view quoted = source(index);
  const std::string_view inside = quoted.substr(1, quoted.size() - 2);
  // An escape takes at most six characters per byte, so the length rules out most strings.
  if (inside.size() < value.size() || inside.size() / 6 > value.size()) return false;
  if (inside.find('\\') == std::string_view::npos) return inside == value;
  return string(index) == value;
}

std::optional<size_t> Tape::find(size_t object, std::string_view key) const {
  std::optional<size_t> found;
  if (nodes_[object].type != Type::object) return found;
  for (size_t at = object + 1; at < nodes_[object].next; at = nodes_[at + 1].next)
    if (is_string(at, key)) found = at + 1;
  return found;
}

size_t Tape::count(size_t container) const {
  const Node& node = nodes_[container];
  if (node.type != Type::array && node.type != Type::object) return 0;
  const size_t key = node.type == Type::object ? 1 : 0;
  size_t count = 0;
  for (size_t at = container + 1; at < node.next; at = nodes_[at + key].next) ++count;
  return count;
}

// Continuation bytes are 10xxxxxx.
size_t count_chars(std::string_view text) {
  size_t chars = text.size();
  for (; text.size() >= kBlockBytes; text.remove_prefix(kBlockBytes)) {
    const uint32_t tails = Block(text.data()).from(0x80, 0x3F).bits();
    chars -= static_cast<size_t>(std::popcount(tails));
  }
  for (const char c : text) chars -= Byte(c).from(0x80, 0x3F);
  return chars;
}

// --- splices ---------------------------------------------------------------------------------

std::string apply_splices(std::string_view text, std::vector<Splice> splices) {
  size_t size = text.size();
  std::vector<uint64_t> keys;
  for (const Splice& splice : splices) {
    size += splice.with.size();
    // Sorts by end as well: an insertion comes before a replacement at the same place.
    keys.push_back(uint64_t{splice.begin} << 32 | splice.end);
  }
  std::string out;
  out.reserve(size);
  size_t at = 0;
  for (const uint32_t index : order_of(keys)) {
    const Splice& splice = splices[index];
    if (splice.begin < at || splice.end < splice.begin || splice.end > text.size()) continue;
    out.append(text, at, splice.begin - at);
    out += splice.with;
    at = splice.end;
  }
  out.append(text, at);
  return out;
}

// --- sorting by number ---------------------------------------------------------------------------

namespace {

/// Merges order[begin, middle) and order[middle, end) into the same place of `merged`.
void merge(const std::vector<uint64_t>& keys, const uint32_t* order, uint32_t* merged, size_t begin,
           size_t middle, size_t end) {
  size_t left = begin;
  size_t right = middle;
  for (size_t out = begin; out < end; ++out) {
    const bool from_right =
        left == middle || (right < end && keys[order[right]] < keys[order[left]]);
    merged[out] = order[from_right ? right++ : left++];
  }
}

}  // namespace

std::vector<uint32_t> order_of(const std::vector<uint64_t>& keys) {
  const size_t size = keys.size();
  std::vector<uint32_t> order(size);
  std::vector<uint32_t> merged(size);
  for (size_t i = 0; i < size; ++i) order[i] = static_cast<uint32_t>(i);
  for (size_t width = 1; width < size; width *= 2) {
    for (size_t begin = 0; begin < size; begin += 2 * width)
      merge(keys, order.data(), merged.data(), begin, std::min(begin + width, size),
            std::min(begin + 2 * width, size));
    order.swap(merged);
  }
  return order;
}

}  // namespace sluice

#include "describe/wide_text.h"

#include <algorithm>

#include "sniff/structure.h"
#include "text/utf8.h"

namespace sluice {

namespace {

/// Bytes that are looked at, and the fewest that tell something.
constexpr size_t kLooked = 1'024;
constexpr size_t kFewest = 16;

bool is_plain(uint64_t unit) {
  return unit == '\t' || unit == '\n' || unit == '\r' || (unit >= ' ' && unit < 0x7f);
}

}  // namespace

std::optional<Wide> find_wide_text(Bytes head) {
  if (stands(head, 0, std::string_view("\xff\xfe\0\0", 4))) return Wide{4, false, true};
  if (stands(head, 0, std::string_view("\0\0\xfe\xff", 4))) return Wide{4, true, true};
  const bool little = stands(head, 0, "\xff\xfe");
  if (little || stands(head, 0, "\xfe\xff")) return Wide{2, !little, true};
  for (const bool big : {false, true}) {
    const size_t end = std::min(head.size(), kLooked) & ~size_t{1};
    size_t plain = 0;
    for (size_t at = 0; at < end; at += 2) {
      const uint64_t unit = read_integer(head, at, 2, big);
      // Letters of Latin, Greek and Cyrillic; others stand too thick to tell them from numbers.
      plain += is_plain(unit) || (unit >= 0xa0 && unit < 0x530) ? 2 : 0;
    }
    if (end >= kFewest && plain * 20 >= end * 19) return Wide{2, big};
  }
  return std::nullopt;
}

bool is_no_text(Bytes head) {
  return as_text(head).find('\0') != std::string_view::npos && !find_wide_text(head);
}

std::string read_first_line(const Wide& wide, Bytes head) {
  constexpr size_t kMost = 512;
  const size_t begin = wide.marked ? std::min(wide.width, head.size()) : 0;
  return decode_wide(as_text(head).substr(begin, kMost), wide.width, wide.big, "\r\n");
}

bool may_be_old_text(Bytes head) {
  head = head.first(std::min(head.size(), kLooked));
  return head.size() >= kFewest && std::all_of(head.begin(), head.end(), [](uint8_t byte) {
           return is_plain(byte) || byte >= 0x80;
         });
}

bool is_old_text(Bytes head) {
  head = head.first(std::min(head.size(), kLooked));
  const auto plain = std::count_if(head.begin(), head.end(), is_plain);
  const auto seen = static_cast<size_t>(plain);
  return may_be_old_text(head) && seen < head.size() && seen * 4 >= head.size() * 3;
}

}  // namespace sluice

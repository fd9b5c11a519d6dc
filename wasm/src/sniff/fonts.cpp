// TrueType and OpenType fonts: the offset table repeats its table count in three derived numbers.
#include <bit>

#include "sniff/recognisers.h"

namespace sluice::sniffing {

//   0       4      6      8        10    12
//   version tables search selector shift records …      (OpenType specification, "Table directory")
std::optional<Match> sfnt(Bytes head) {
  if (!holds(head, 0, 12)) return std::nullopt;
  const uint32_t tables = be16(head, 4);
  if (tables == 0 || tables > 256) return std::nullopt;
  const uint32_t selector = static_cast<uint32_t>(std::bit_width(tables)) - 1;
  const uint32_t search = 16u << selector;
  const bool consistent = be16(head, 6) == search && be16(head, 8) == selector &&
                          be16(head, 10) == tables * 16 - search;
  if (!consistent) return std::nullopt;
  return Match{stands(head, 0, "OTTO") ? Kind::otf : Kind::ttf};
}

}  // namespace sluice::sniffing

#include "describe/image/dimensions.h"
#include "sniff/fields.h"

namespace sluice::image {

// ICONDIR: 0:2 kind:2 (1 icon, 2 cursor) count:2, then entries of 16 bytes that begin width:1
// height:1, where 0 stands for 256. The largest is the one a person thinks of.
std::optional<Dimensions> ico_dimensions(Bytes head) {
  const uint32_t kind = le16(head, 2);
  if (head.size() < 22 || le16(head, 0) != 0 || (kind != 1 && kind != 2)) return std::nullopt;
  Dimensions largest;
  for (uint32_t i = 0; i < le16(head, 4); ++i) {
    const uint64_t entry = 6 + uint64_t{i} * 16;
    if (entry + 16 > head.size()) break;
    const uint32_t width = u8(head, entry);
    const uint32_t height = u8(head, entry + 1);
    const Dimensions found{width == 0 ? 256 : width, height == 0 ? 256 : height};
    if (found.width * found.height > largest.width * largest.height) largest = found;
  }
  return largest;
}

}  // namespace sluice::image

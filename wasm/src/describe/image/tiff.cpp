#include "describe/image/dimensions.h"
#include "sniff/fields.h"

namespace sluice::image {
namespace {

/// Fields in the byte order that the file's first two bytes name.
struct Order {
  Bytes head;
  bool big;

  uint32_t u16(uint64_t at) const { return big ? be16(head, at) : le16(head, at); }
  uint32_t u32(uint64_t at) const { return big ? be32(head, at) : le32(head, at); }
};

}  // namespace

// TIFF 6.0 §2: II or MM, 42, offset of the first directory. A directory is a count:2 and entries of
// 12 bytes: tag:2 type:2 count:4 value:4, where a SHORT (3) takes the first two bytes of the value.
std::optional<Dimensions> tiff_dimensions(Bytes head) {
  constexpr uint32_t kWidth = 256;
  constexpr uint32_t kHeight = 257;
  const bool big = stands(head, 0, "MM");
  if (!big && !stands(head, 0, "II")) return std::nullopt;
  const Order file{head, big};
  if (file.u16(2) != 42) return std::nullopt;
  const uint64_t directory = file.u32(4);
  Dimensions found;
  for (uint32_t i = 0; i < file.u16(directory); ++i) {
    const uint64_t entry = directory + 2 + uint64_t{i} * 12;
    if (entry + 12 > head.size()) break;
    const uint32_t tag = file.u16(entry);
    const uint32_t type = file.u16(entry + 2);
    const uint32_t value = type == 3 ? file.u16(entry + 8) : type == 4 ? file.u32(entry + 8) : 0;
    if (tag == kWidth) found.width = value;
    if (tag == kHeight) found.height = value;
  }
  return found;
}

}  // namespace sluice::image

#include "describe/image/dimensions.h"
#include "sniff/fields.h"

namespace sluice::image {
namespace {

/// SOF0…SOF15 (C0…CF) but for DHT (C4), JPG (C8) and DAC (CC).
bool is_frame(uint32_t marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/// TEM, RSTn and SOI have no length.
bool is_bare(uint32_t marker) {
  return marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

}  // namespace

// ITU-T T.81 annex B: FF marker, length:2 (itself included), content. A frame header's content is
// precision:1 height:2 width:2. Bytes FF may fill the space before a marker.
std::optional<Dimensions> jpeg_dimensions(Bytes head) {
  if (!stands(head, 0, "\xff\xd8\xff")) return std::nullopt;
  for (uint64_t at = 2; u8(head, at) == 0xff;) {
    const uint32_t marker = u8(head, at + 1);
    if (marker == 0xff) {
      ++at;
    } else if (is_frame(marker)) {
      return Dimensions{be16(head, at + 7), be16(head, at + 5)};
    } else if (is_bare(marker)) {
      at += 2;
    } else {
      const uint32_t length = be16(head, at + 2);
      if (marker == 0xda || marker == 0xd9 || length < 2) break;  // scan, end of image
      at += 2 + length;
    }
  }
  return std::nullopt;
}

}  // namespace sluice::image

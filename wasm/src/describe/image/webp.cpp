#include "describe/image/dimensions.h"
#include "sniff/fields.h"

namespace sluice::image {

// RFC 9649 §2: RIFF size WEBP, then a chunk: tag:4 size:4 content.
std::optional<Dimensions> webp_dimensions(Bytes head) {
  constexpr uint64_t kContent = 20;
  if (!stands(head, 0, "RIFF") || !stands(head, 8, "WEBP")) return std::nullopt;
  if (stands(head, 12, "VP8X")) {  // flags:1 reserved:3 width-1:3 height-1:3
    if (head.size() < kContent + 10) return std::nullopt;
    return Dimensions{le24(head, kContent + 4) + 1, le24(head, kContent + 7) + 1};
  }
  if (stands(head, 12, "VP8L")) {  // 2f, then bits from the lowest: width-1:14 height-1:14
    if (head.size() < kContent + 5 || u8(head, kContent) != 0x2f) return std::nullopt;
    const uint32_t bits = le32(head, kContent + 1);
    return Dimensions{(bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1};
  }
  // RFC 6386 §9.1: frame tag:3, start code 9d 01 2a, then scale:2 width:14, scale:2 height:14
  if (stands(head, 12, "VP8 ") && stands(head, kContent + 3, "\x9d\x01\x2a")) {
    return Dimensions{le16(head, kContent + 6) & 0x3fff, le16(head, kContent + 8) & 0x3fff};
  }
  return std::nullopt;
}

}  // namespace sluice::image

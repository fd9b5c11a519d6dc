#include "describe/image/dimensions.h"
#include "sniff/fields.h"

namespace sluice::image {

// PNG (ISO/IEC 15948) §11.2.2: signature, then IHDR with width and height. Apple's CgBI variant
// puts a chunk of four bytes of content before it.
std::optional<Dimensions> png_dimensions(Bytes head) {
  if (!stands(head, 0, "\x89PNG\r\n\x1a\n")) return std::nullopt;
  const uint64_t chunk = stands(head, 12, "CgBI") ? 24 : 8;
  if (!stands(head, chunk + 4, "IHDR")) return std::nullopt;
  return Dimensions{be32(head, chunk + 8), be32(head, chunk + 12)};
}

}  // namespace sluice::image

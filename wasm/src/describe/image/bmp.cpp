#include "describe/image/dimensions.h"
#include "describe/image/fields.h"

namespace sluice::image {

// BITMAPFILEHEADER (14 bytes), then BITMAPCOREHEADER (12 bytes, 16-bit fields) or BITMAPINFOHEADER
// and its successors (32-bit fields; a negative height means rows from the top).
std::optional<Dimensions> bmp_dimensions(Bytes head) {
  if (!stands(head, 0, "BM")) return std::nullopt;
  const uint32_t header = u32_le(head, 14);
  if (header == 12) return Dimensions{u16_le(head, 18), u16_le(head, 20)};
  if (header < 16 || header > 256) return std::nullopt;
  const uint32_t width = u32_le(head, 18);
  const uint32_t height = u32_le(head, 22);
  if (width > INT32_MAX) return std::nullopt;
  return Dimensions{width, height > INT32_MAX ? 0u - height : height};
}

}  // namespace sluice::image

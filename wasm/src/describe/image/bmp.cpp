#include "describe/image/dimensions.h"
#include "sniff/fields.h"

namespace sluice::image {

// BITMAPFILEHEADER (14 bytes), then BITMAPCOREHEADER (12 bytes, 16-bit fields) or BITMAPINFOHEADER
// and its successors (32-bit fields; a negative height means rows from the top).
std::optional<Dimensions> bmp_dimensions(Bytes head) {
  if (!stands(head, 0, "BM")) return std::nullopt;
  const uint32_t header = le32(head, 14);
  if (header == 12) return Dimensions{le16(head, 18), le16(head, 20)};
  if (header < 16 || header > 256) return std::nullopt;
  const uint32_t width = le32(head, 18);
  const uint32_t height = le32(head, 22);
  if (width > INT32_MAX) return std::nullopt;
  return Dimensions{width, height > INT32_MAX ? 0u - height : height};
}

}  // namespace sluice::image

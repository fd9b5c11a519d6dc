#include "describe/image/dimensions.h"
#include "sniff/fields.h"

namespace sluice::image {

// Adobe Photoshop file format, file header: 8BPS version:2 (1, or 2 for PSB) reserved:6 channels:2
// height:4 width:4.
std::optional<Dimensions> psd_dimensions(Bytes head) {
  const uint32_t version = be16(head, 4);
  if (!stands(head, 0, "8BPS") || (version != 1 && version != 2)) return std::nullopt;
  return Dimensions{be32(head, 18), be32(head, 14)};
}

}  // namespace sluice::image

#include "describe/image/dimensions.h"
#include "sniff/fields.h"

namespace sluice::image {

// GIF89a §18: the logical screen descriptor follows the signature.
std::optional<Dimensions> gif_dimensions(Bytes head) {
  if (!stands(head, 0, "GIF87a") && !stands(head, 0, "GIF89a")) return std::nullopt;
  return Dimensions{le16(head, 6), le16(head, 8)};
}

}  // namespace sluice::image

#include "describe/image/dimensions.h"

#include <array>

namespace sluice::image {

std::optional<Dimensions> dimensions(Bytes head) {
  using Reader = std::optional<Dimensions> (*)(Bytes);
  static constexpr std::array<Reader, 11> kReaders = {
      png_dimensions,  jpeg_dimensions, gif_dimensions, webp_dimensions,
      bmp_dimensions,  tiff_dimensions, ico_dimensions, psd_dimensions,
      heif_dimensions, jxl_dimensions,  svg_dimensions};
  for (const Reader read : kReaders) {
    const std::optional<Dimensions> found = read(head);
    if (found && found->width > 0 && found->height > 0) return found;
  }
  return std::nullopt;
}

}  // namespace sluice::image

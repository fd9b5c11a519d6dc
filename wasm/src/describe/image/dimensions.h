// Width and height of an image, read from the first bytes of its file.
#pragma once

#include <cstdint>
#include <optional>

#include "sluice/bytes.h"

namespace sluice::image {

/// In pixels, as stored: a rotation that metadata asks for is not applied. Neither is 0.
struct Dimensions {
  uint64_t width = 0;
  uint64_t height = 0;

  bool operator==(const Dimensions&) const = default;
};

/// The dimensions of whatever image begins with `head`; nothing when it is no known image or they
/// are not to be seen there. Time is linear in the head.
std::optional<Dimensions> dimensions(Bytes head);

// One per family; each looks at its own signature first.
std::optional<Dimensions> png_dimensions(Bytes head);
std::optional<Dimensions> jpeg_dimensions(Bytes head);
std::optional<Dimensions> gif_dimensions(Bytes head);
std::optional<Dimensions> webp_dimensions(Bytes head);
std::optional<Dimensions> bmp_dimensions(Bytes head);
std::optional<Dimensions> tiff_dimensions(Bytes head);
std::optional<Dimensions> ico_dimensions(Bytes head);
std::optional<Dimensions> psd_dimensions(Bytes head);
std::optional<Dimensions> heif_dimensions(Bytes head);
std::optional<Dimensions> jxl_dimensions(Bytes head);
std::optional<Dimensions> svg_dimensions(Bytes head);

}  // namespace sluice::image

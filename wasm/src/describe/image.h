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

}  // namespace sluice::image

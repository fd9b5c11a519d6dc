#include "describe/boxes.h"
#include "describe/image/dimensions.h"
#include "sniff/fields.h"

namespace sluice::image {

// HEIF (ISO/IEC 23008-12 §6.5.3), also AVIF: meta (a full box) › iprp › ipco › ispe, one for each
// size in use. Tiles and thumbnails are smaller than the image itself, so the largest is the
// image's.
std::optional<Dimensions> heif_dimensions(Bytes head) {
  if (!stands(head, 4, "ftyp")) return std::nullopt;
  const Bytes meta = find_box(head, "meta");
  if (meta.size() < 4) return std::nullopt;
  Bytes properties = find_box(find_box(meta.subspan(4), "iprp"), "ipco");
  Dimensions largest;
  while (const std::optional<Box> box = first_box(properties)) {
    properties = box->rest;
    if (box->type != "ispe") continue;
    const Dimensions found{be32(box->content, 4), be32(box->content, 8)};
    if (found.width * found.height > largest.width * largest.height) largest = found;
  }
  return largest;
}

}  // namespace sluice::image

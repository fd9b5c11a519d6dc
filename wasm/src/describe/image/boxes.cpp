#include "describe/image/boxes.h"

#include <algorithm>

#include "describe/image/fields.h"

namespace sluice::image {

std::optional<Box> first_box(Bytes bytes) {
  //   size:4 type:4 [size:8 when size is 1] content…     size 0: to the end of the file
  if (bytes.size() < 8) return std::nullopt;
  uint64_t header = 8;
  uint64_t size = u32_be(bytes, 0);
  if (size == 1) {
    header = 16;
    size = uint64_t{u32_be(bytes, 8)} << 32 | u32_be(bytes, 12);
  } else if (size == 0) {
    size = bytes.size();
  }
  if (size < header || bytes.size() < header) return std::nullopt;
  const auto end = static_cast<size_t>(std::min<uint64_t>(size, bytes.size()));
  const auto begin = static_cast<size_t>(header);
  return Box{as_text(bytes.subspan(4, 4)), bytes.subspan(begin, end - begin), bytes.subspan(end)};
}

Bytes find_box(Bytes bytes, std::string_view type) {
  while (const std::optional<Box> box = first_box(bytes)) {
    if (box->type == type) return box->content;
    bytes = box->rest;
  }
  return {};
}

}  // namespace sluice::image

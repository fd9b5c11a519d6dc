#include "describe/boxes.h"

#include <algorithm>

#include "sniff/fields.h"

namespace sluice {

std::optional<Box> first_box(Bytes bytes) {
  //   size:4 type:4 [size:8 when size is 1] content…     size 0: to the end of the file
  if (bytes.size() < 8) return std::nullopt;
  const uint64_t stated = be32(bytes, 0);
  const size_t header = stated == 1 ? 16 : 8;
  const uint64_t given = stated == 1 ? be(bytes, 8, 8) : stated;
  const uint64_t size = stated == 0 ? bytes.size() : given;
  if (size < header || bytes.size() < header) return std::nullopt;
  const auto end = static_cast<size_t>(std::min<uint64_t>(size, bytes.size()));
  return Box{as_text(bytes.subspan(4, 4)), given, bytes.subspan(header, end - header),
             bytes.subspan(end)};
}

Bytes find_box(Bytes bytes, std::string_view type) {
  while (const std::optional<Box> box = first_box(bytes)) {
    if (box->type == type) return box->content;
    bytes = box->rest;
  }
  return {};
}

}  // namespace sluice

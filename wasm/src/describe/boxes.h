// The boxes of ISO base media files (ISO/IEC 14496-12 §4.2).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sluice/bytes.h"

namespace sluice {

/// A box in a file's head; `content` is cut where the head is.
struct Box {
  std::string_view type;
  uint64_t size = 0;  ///< of the whole box, as it says itself; 0: to the end of the file
  Bytes content;
  Bytes rest;  ///< the bytes behind the box
};

/// The box that begins `bytes`; nothing when its header is cut or makes no sense. `rest` is always
/// shorter than `bytes`.
std::optional<Box> first_box(Bytes bytes);

/// The content of the first box of a type in a row of boxes; empty when there is none.
Bytes find_box(Bytes bytes, std::string_view type);

}  // namespace sluice

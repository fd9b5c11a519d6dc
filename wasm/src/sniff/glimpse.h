// What is to be seen of a file: its beginning and its end.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sluice/bytes.h"

namespace sluice {

/// The first and the last bytes of a file. They overlap, or are the same, where the file is small.
struct Glimpse {
  Bytes head;
  Bytes tail;
  uint64_t size = 0;  ///< of the whole file

  /// The bytes from `at` to where they stop being seen; none where nothing is seen.
  Bytes from(uint64_t at) const {
    const uint64_t unseen = size - std::min<uint64_t>(tail.size(), size);
    if (at >= unseen && at < size) return tail.subspan(static_cast<size_t>(at - unseen));
    return at < head.size() ? head.subspan(static_cast<size_t>(at)) : Bytes();
  }
};

}  // namespace sluice

// Stable sorting by number. There is one instance, because std::sort takes a kilobyte for every
// type.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

/// The indexes of `keys` in ascending order of keys. Equal keys keep their order. At most 2^32 - 1
/// keys.
std::vector<uint32_t> order_of(const std::vector<uint64_t>& keys);

}  // namespace sluice

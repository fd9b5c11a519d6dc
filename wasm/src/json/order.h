// Sorting by number, stably, in one place: std::sort and its kin are a kilobyte for every type.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

/// The indexes of `keys` in the order of the keys; equal keys keep their order. At most 2^32 - 1
/// keys.
std::vector<uint32_t> order_of(const std::vector<uint64_t>& keys);

}  // namespace sluice

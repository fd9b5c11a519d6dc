#include "json/order.h"

#include <algorithm>

namespace sluice {

namespace {

/// Merges order[begin, middle) and order[middle, end) into the same place of `merged`.
void merge(const std::vector<uint64_t>& keys, const uint32_t* order, uint32_t* merged, size_t begin,
           size_t middle, size_t end) {
  size_t left = begin;
  size_t right = middle;
  for (size_t out = begin; out < end; ++out) {
    const bool from_right =
        left == middle || (right < end && keys[order[right]] < keys[order[left]]);
    merged[out] = order[from_right ? right++ : left++];
  }
}

}  // namespace

std::vector<uint32_t> order_of(const std::vector<uint64_t>& keys) {
  const size_t size = keys.size();
  std::vector<uint32_t> order(size);
  std::vector<uint32_t> merged(size);
  for (size_t i = 0; i < size; ++i) order[i] = static_cast<uint32_t>(i);
  for (size_t width = 1; width < size; width *= 2) {
    for (size_t begin = 0; begin < size; begin += 2 * width)
      merge(keys, order.data(), merged.data(), begin, std::min(begin + width, size),
            std::min(begin + 2 * width, size));
    order.swap(merged);
  }
  return order;
}

}  // namespace sluice

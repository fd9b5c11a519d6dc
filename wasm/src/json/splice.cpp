#include "json/order.h"
#include "sluice/tape.h"

namespace sluice {

std::string apply_splices(std::string_view text, std::vector<Splice> splices) {
  size_t size = text.size();
  std::vector<uint64_t> keys;
  for (const Splice& splice : splices) {
    size += splice.with.size();
    // By end as well: an insertion in front of a replacement comes first.
    keys.push_back(uint64_t{splice.begin} << 32 | splice.end);
  }
  std::string out;
  out.reserve(size);
  size_t at = 0;
  for (const uint32_t index : order_of(keys)) {
    const Splice& splice = splices[index];
    if (splice.begin < at || splice.end < splice.begin || splice.end > text.size()) continue;
    out.append(text, at, splice.begin - at);
    out += splice.with;
    at = splice.end;
  }
  out.append(text, at);
  return out;
}

}  // namespace sluice

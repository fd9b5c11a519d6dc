#include <algorithm>

#include "sluice/tape.h"

namespace sluice {

std::string apply_splices(std::string_view text, std::vector<Splice> splices) {
  // By end as well: an insertion in front of a replacement comes first.
  std::stable_sort(splices.begin(), splices.end(), [](const Splice& a, const Splice& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  size_t size = text.size();
  for (const Splice& splice : splices) size += splice.with.size();
  std::string out;
  out.reserve(size);
  size_t at = 0;
  for (const Splice& splice : splices) {
    if (splice.begin < at || splice.end < splice.begin || splice.end > text.size()) continue;
    out.append(text, at, splice.begin - at);
    out += splice.with;
    at = splice.end;
  }
  out.append(text, at);
  return out;
}

}  // namespace sluice

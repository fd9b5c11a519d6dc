// Numbers as a person reads them.
#include <array>

#include "sluice/describe.h"

namespace sluice {

std::string human_size(uint64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits = {" KB", " MB", " GB", " TB", " PB", " EB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  uint64_t whole = 0;
  uint64_t tenths = 0;
  size_t unit = 0;
  for (;; ++unit) {
    const uint64_t size = uint64_t{1} << (10 * (unit + 1));
    const uint64_t rest = bytes % size;
    whole = bytes / size;
    tenths = (rest * 10 + size / 2) / size;
    if (tenths == 10) {
      ++whole;
      tenths = 0;
    }
    if (whole < 1024 || unit + 1 == kUnits.size()) break;
  }
  return std::to_string(whole) + "." + std::to_string(tenths) + kUnits[unit];
}

void resize(Segment& segment, uint64_t bytes) {
  const std::string was = ", " + human_size(segment.bytes);
  // It stands behind the kind, where nothing is quoted yet.
  const size_t at = segment.description.find(was);
  if (at != std::string::npos) {
    segment.description.replace(at, was.size(), ", " + human_size(bytes));
  }
  segment.bytes = bytes;
}

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

}  // namespace sluice

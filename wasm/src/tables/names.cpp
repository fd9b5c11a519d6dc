#include "tables/rows.h"
#include "text/ascii.h"

namespace sluice::tables {

std::string ColumnNames::add(std::string_view name) {
  std::string unique(name);
  size_t& count = taken_[lowered(name)];
  // References to elements of the map stay when others are added.
  while (count++ > 0) {
    unique = std::string(name) + '_' + std::to_string(count);
    if (taken_.try_emplace(lowered(unique), 1).second) break;
  }
  return unique;
}

}  // namespace sluice::tables

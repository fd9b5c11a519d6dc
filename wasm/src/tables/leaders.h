// The rows that come first in an order: what is behind them need not be sorted.
#pragma once

#include <cstddef>
#include <vector>

#include "tables/value.h"

namespace sluice::tables {

/// The first values of a column by ORDER BY, as many as LIMIT and OFFSET let an answer have.
class Leaders {
 public:
  /// Most values that are kept.
  static constexpr size_t kMost = 1000;

  /// Forgets all, and keeps so many, at most `kMost`, from now on; none with 0.
  void begin(size_t count, bool is_descending);
  bool are_kept() const { return count_ > 0; }
  /// Whether enough values come before this one. One that is equal to the last is not behind it.
  bool is_behind(const Value& value) const;
  void add(const Value& value);

 private:
  bool comes_before(const Value& a, const Value& b) const;

  size_t count_ = 0;
  bool is_descending_ = false;
  /// A heap, whose first one comes last.
  std::vector<KeptValue> values_;
};

}  // namespace sluice::tables

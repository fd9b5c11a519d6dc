// Who gets how much of a container's budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "guardrail/measure.h"

namespace sluice::guardrail {

/// One child that stays. In an object its key is the node before `value`.
struct Child {
  uint32_t value = 0;
  uint32_t ordinal = 0;  ///< its place among its siblings, from 1
  uint32_t lead = 0;     ///< code points in front of it: comma, key, colon
  uint32_t floor = 0;    ///< least code points it is worth showing with
  uint32_t budget = 0;   ///< most code points it may take
};

/// The children that stay, in source order.
struct Share {
  std::vector<Child> kept;
  uint64_t left_out = 0;  ///< children that do not; with some, a note has been budgeted
};

/// Divides `budget` code points among the children of a container that does not fit in them.
/// References come first, then a head of the others; small ones get all they ask for, large ones
/// equal parts of what remains:
///
///   level ┄┄┄┄┄┄┄┄┄┄█┄┄┄█┄┄
///                █  █ ▄ █       a child's column is its size, cut at the level
///
/// None stay when nothing fits, or when the object's own reference does not.
Share share(const Measure& measure, size_t container, size_t budget);

}  // namespace sluice::guardrail

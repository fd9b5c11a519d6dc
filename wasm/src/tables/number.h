// Numbers as texts of tables write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tables/rows.h"

namespace sluice::tables {

/// The number that a text is, as JSON writes numbers; `kText` for any other, and for what a 64-bit
/// number cannot hold exactly as it is written: whole numbers that are longer, `007`, `+49`,
/// `12E4`. The text of the cell is left as it is.
Cell read_number(std::string_view text);

/// Whether a double holds an integer.
constexpr bool is_exact(int64_t integer) {
  constexpr int64_t kMost = int64_t{1} << 53;
  return integer >= -kMost && integer <= kMost;
}

/// How a number with a decimal comma is written.
enum class Comma : uint8_t { kNone, kThousands, kDecimal };

/// `kDecimal` for numbers such as `1.234,5`, `0,5`; `kThousands` for `1,234`, which may be either;
/// `kNone` for whole ones. Nothing for any other text.
std::optional<Comma> find_comma(std::string_view text);

/// The same number with a decimal point, and without points between thousands.
std::string write_point(std::string_view text);

}  // namespace sluice::tables

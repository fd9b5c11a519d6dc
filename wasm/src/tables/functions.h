// Functions that a query has besides those of SQLite: they read numbers and dates as people write
// them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tables/rows.h"

struct sqlite3;

namespace sluice::tables {

/// The number that a text such as `-$1,234.50`, `(12.00)`, `1.234,50 €`, `+5`, `12 %` or `3 kg` is,
/// with this sign before its decimals; the unit is left out. `kNull` for any other text, as for
/// `007`.
Cell read_amount(std::string_view text, char decimal);

/// A date as ISO 8601, with its time and zone where it has them. `order` has the letters d, m and y
/// in the order of the text, as in `DD/MM/YYYY`; without it, dates of which nothing else tells
/// their order are none. Empty for any other text.
std::string read_date(std::string_view text, std::string_view order);

/// Adds `to_number(text, decimal)` and `to_date(text, order)`. The result is SQLite's.
int add_functions(sqlite3* database);

}  // namespace sluice::tables

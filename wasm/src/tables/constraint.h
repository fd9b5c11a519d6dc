// Conditions on a column that rule rows out before SQLite sees them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tables/rows.h"

struct sqlite3_value;

namespace sluice::tables {

/// A condition, which SQLite looks at again: it may let rows through that do not meet it, and never
/// holds back one that does.
class Constraint {
 public:
  /// Whether a condition of this kind, as SQLite numbers them, can be tested here.
  static bool is_known(int op);

  /// `op` is one that is known. Nothing for a condition that lets every row through.
  static std::optional<Constraint> make(int op, size_t column, Type type, sqlite3_value* value);

  bool allows(Rows& rows) const;

 private:
  bool allows_text(std::string_view text) const;
  bool allows_order(int order) const;

  int op_ = 0;
  size_t column_ = 0;
  Cell::Kind kind_ = Cell::Kind::kNull;
  int64_t integer_ = 0;
  double real_ = 0;
  std::string text_;
};

}  // namespace sluice::tables

// Conditions on a column that rule rows out before SQLite sees them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tables/rows.h"

struct sqlite3_value;

namespace sluice::tables {

/// Whether a row meets a condition; what is unsure is for SQLite to tell.
enum class Verdict : uint8_t { kNo, kUnsure, kYes };

/// A condition, as far as it can be told without SQLite.
class Constraint {
 public:
  /// Whether a condition of this kind, as SQLite numbers them, can be tested here.
  static bool is_known(int op);

  /// `op` is one that is known. Nothing for a condition that lets every row through.
  static std::optional<Constraint> make(int op, size_t column, Type type, sqlite3_value* value);

  Verdict judge(Rows& rows) const;

 private:
  bool allows_text(std::string_view text) const;
  bool allows_order(int order) const;

  int op_ = 0;
  size_t column_ = 0;
  Cell::Kind kind_ = Cell::Kind::kNull;
  int64_t integer_ = 0;
  double real_ = 0;
  /// Whether `real_` is the number itself.
  bool is_exact_ = true;
  std::string text_;
};

}  // namespace sluice::tables

// Values as SQL knows them, of cells and of SQLite alike.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tables/rows.h"

struct sqlite3_context;
struct sqlite3_value;

namespace sluice::tables {

/// A value of a row. Its text stays as long as the row.
struct Value {
  enum class Kind : uint8_t { kNull, kInteger, kReal, kText, kBlob };

  Kind kind = Kind::kNull;
  int64_t integer = 0;
  double real = 0;
  std::string_view bytes;

  bool has_bytes() const { return kind == Kind::kText || kind == Kind::kBlob; }
};

/// A value that outlives its row.
struct KeptValue {
  Value value;
  std::string bytes;

  Value get() const;
};

Value read_value(sqlite3_value* value);
/// What SQLite is given of a cell of a column of a type.
Value read_value(const Cell& cell, Type type);
KeptValue keep_value(const Value& value);
/// `may_borrow`: its bytes stay as long as SQLite needs them.
void give_value(sqlite3_context* context, const Value& value, bool may_borrow);

/// Bytes of values, one behind the other, which are written for each row: a `std::string` takes
/// half of the time of a group for its own upkeep.
class Key {
 public:
  void clear() { size_ = 0; }
  /// Values that are equal in SQL become the same bytes: `1` and `1.0` are.
  void append(const Value& value);
  std::string_view get() const { return {bytes_.get(), size_}; }

 private:
  char* extend(size_t size);

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// The value that `Key` has at `at`, which goes on behind it.
Value take_value(const char*& at);
/// Compares as ORDER BY does: below 0, 0 or above 0.
int compare(const Value& a, const Value& b);

}  // namespace sluice::tables

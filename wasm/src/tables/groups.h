// Groups of rows in a hash table, which SQLite sees as a table: it groups by sorting, which takes
// many times as long.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tables/database.h"
#include "tables/group_form.h"
#include "tables/hash_index.h"
#include "tables/value.h"

struct sqlite3_context;
struct sqlite3_value;

namespace sluice::tables {

/// The groups of one question.
class Groups : public RowSink {
 public:
  /// Where a value of a row comes from: a column, or nowhere.
  struct Source {
    std::optional<size_t> column;
    int64_t constant = 0;
  };

  Groups(Database& database, GroupForm form);

  /// Prepares the reading of rows. False, with a failure, where the question is refused.
  bool prepare();
  /// Reads all rows. The result is SQLite's.
  int read();
  /// Takes one row: the values of the keys and those of the arguments. False where there is no more
  /// room.
  bool add_row(std::span<sqlite3_value*> values);
  Taken take_row(Rows& rows, std::span<const Type> types) override;
  size_t size() const;
  /// Values of a group: of its keys, then of its aggregates.
  size_t columns() const { return form_.keys + form_.aggregates.size(); }
  std::string declare() const;
  void give(size_t group, size_t column, sqlite3_context* context) const;

 private:
  struct Total {
    int64_t count = 0;
    int64_t integer = 0;
    double real = 0;
    double error = 0;
    bool is_real = false;
    bool has_overflow = false;
    std::unique_ptr<KeptValue> best;
  };

  /// The group whose key is in `key_`.
  size_t find_group();
  /// Adds a value to an aggregate of a group; `number` is what it is as a number.
  void add(size_t group, size_t index, const Value& value, const Value& number);
  bool is_new(const Aggregate& aggregate, HashIndex& seen, const Value& value, size_t group);
  void add_best(Total& total, Aggregate::Kind kind, const Value& value);
  static void add_number(Total& total, const Value& value);
  /// Counts a row, and looks from time to time whether there is still room.
  bool has_room();
  bool is_within() const;
  size_t count_values() const;

  Database& database_;
  GroupForm form_;
  Statement inner_;
  std::vector<std::string> types_;
  HashIndex keys_;
  /// Values that DISTINCT has seen, with their group, for each aggregate.
  std::vector<HashIndex> values_;
  std::vector<Total> totals_;
  Key key_;
  /// Of the values of rows; empty where SQLite has more to do with a row.
  std::vector<Source> sources_;
  /// The values of the row at hand.
  std::vector<Value> row_;
  /// Bytes of texts that are the least or the greatest.
  size_t kept_ = 0;
  uint64_t rows_ = 0;
  bool is_read_ = false;
};

/// Prepares a question in the way of groups, if it has that form and all of its parts are right;
/// else nothing. The groups live as long as the statement.
struct GroupQuery {
  std::unique_ptr<Groups> groups;
  Statement statement;
};
std::optional<GroupQuery> prepare_groups(Database& database, std::string_view sql);

}  // namespace sluice::tables

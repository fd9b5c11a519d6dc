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

struct sqlite3_context;
struct sqlite3_value;

namespace sluice::tables {

/// Finds texts of bytes by their content, and numbers them from 0 in the order in which they came.
class HashIndex {
 public:
  struct Found {
    size_t index = 0;
    bool is_new = false;
  };

  Found add(std::string_view bytes);
  size_t size() const { return ends_.size(); }
  std::string_view at(size_t index) const;
  /// Bytes of memory that it takes.
  size_t memory() const;

 private:
  void grow();

  std::vector<uint32_t> slots_;  ///< an index, from 1
  std::vector<uint32_t> hashes_;
  std::vector<size_t> ends_;
  std::string bytes_;
};

/// The groups of one question.
class Groups {
 public:
  Groups(Database& database, GroupForm form);
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;
  ~Groups();

  /// Prepares the reading of rows. False, with a failure, where the question is refused.
  bool prepare();
  /// Reads all rows. The result is SQLite's.
  int read();
  /// Takes one row: the values of the keys and those of the arguments. False where there is no more
  /// room.
  bool add_row(std::span<sqlite3_value*> values);
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
    sqlite3_value* best = nullptr;
  };

  bool add(Total& total, const Aggregate& aggregate, HashIndex& seen, sqlite3_value* value,
           size_t group);
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
  std::string key_;
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

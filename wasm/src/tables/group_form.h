// Questions that group rows, taken apart for a hash table to answer, since SQLite groups by
// sorting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::tables {

/// An aggregate that is computed for each group.
struct Aggregate {
  enum class Kind : uint8_t { kCount, kSum, kTotal, kAverage, kMin, kMax };

  Kind kind = Kind::kCount;
  bool is_distinct = false;
  /// Its argument in SQL; empty for COUNT(*).
  std::string argument;

  bool has_best() const { return kind == Kind::kMin || kind == Kind::kMax; }
  bool has_sum() const { return kind != Kind::kCount && !has_best(); }
};

/// `SELECT … FROM … WHERE … GROUP BY …`, or with DISTINCT, in two statements: the list and the rest
/// of `inner` give the values of the keys and then those of the arguments of each row, and `outer`
/// is the question over the groups, whose columns are named by `name_key` and `name_aggregate`.
struct GroupForm {
  std::string list;
  std::string rest;
  /// Rows are of one table, and nothing but the groups keeps a value.
  bool is_plain = false;
  std::string outer;
  size_t keys = 0;
  std::vector<Aggregate> aggregates;
};

/// The name of the table of groups in `outer`.
inline constexpr const char* kGroupTable = "sluice groups";

std::string name_key(size_t index);
std::string name_aggregate(size_t index);

/// Takes a question apart. Nothing for what has another form: SQLite answers those. It need not be
/// right, since SQLite checks the parts; but what is taken for a key or an aggregate is one.
/// `is_column` tells whether a name is that of a column.
std::optional<GroupForm> read_group_form(std::string_view sql,
                                         const std::function<bool(std::string_view)>& is_column);

}  // namespace sluice::tables

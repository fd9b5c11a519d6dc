// Rows as a virtual table of SQLite.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "tables/rows.h"

struct sqlite3;

namespace sluice::tables {

/// Rows that a query can read any number of times.
class Table {
 public:
  Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  virtual ~Table() = default;

  virtual const std::vector<Column>& columns() const = 0;
  /// Rows, of the first ones, with cells that are in no column.
  virtual size_t longer() const { return 0; }
  /// Nothing where it is not told.
  virtual const Seen* seen() const { return nullptr; }
  /// Whether rows may have cells that are in no column, but can be asked for.
  virtual bool is_open() const { return false; }
  virtual std::unique_ptr<Rows> make_rows() = 0;
};

/// Why rows could not be read; the reader of the answer gets it, since SQLite knows only that they
/// could not.
struct ReadFailure {
  Step step = Step::kRow;
  uint64_t row = 0;
  std::string table;
};

/// Takes rows past SQLite.
class RowSink {
 public:
  enum class Taken : uint8_t { kYes, kNo, kFull };

  RowSink() = default;
  RowSink(const RowSink&) = delete;
  RowSink& operator=(const RowSink&) = delete;
  virtual ~RowSink() = default;

  /// Takes the row at hand, of columns of these types. SQLite gets the one that it does not take.
  virtual Taken take_row(Rows& rows, std::span<const Type> types) = 0;
};

/// The tables of a database. It outlives their statements.
struct Tables {
  struct Named {
    std::string name;
    std::unique_ptr<Table> table;
    /// Columns that the question reads.
    std::unordered_set<std::string> read;
    /// The virtual table as programs of SQLite's machine name it.
    std::string address;
  };

  /// Virtual tables point to them.
  std::deque<Named> named;
  ReadFailure failure;
  /// Rows that were read so far, of all tables.
  uint64_t rows = 0;
  /// Groups that were made so far.
  uint64_t groups = 0;
  /// Whether nothing keeps a text longer than its row is at hand.
  bool may_borrow = false;
  /// Whether SQLite is told that it need not look at conditions again: to see what else it would do
  /// with a row.
  bool omits_conditions = false;
  /// Takes the rows that meet all conditions, where there is one.
  RowSink* sink = nullptr;
  /// Whether the time of the query is up.
  std::function<bool()> is_late;
};

/// A name or a text in SQL, between marks.
std::string quote(std::string_view text, char mark);

/// Lets statements name the last table of `tables`. The result is SQLite's.
int add_table(sqlite3* database, Tables& tables);

}  // namespace sluice::tables

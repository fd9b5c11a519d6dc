// Questions in SQL over tables that are bytes: CSV, JSON, NDJSON, lines. SQLite answers them; the
// bytes are read when it asks for the next row, by the one function that the host gives.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Reads bytes of an artifact from an offset on into `into`, at least one of them unless there are
/// no more, and tells how many. Negative where they cannot be read.
using ReadArtifact =
    std::function<ptrdiff_t(uint32_t artifact, uint64_t offset, std::span<char> into)>;

/// What a query may take.
struct QueryLimits {
  double milliseconds = 20000;
  /// Bytes of memory, of SQLite and of groups alike.
  uint64_t memory = uint64_t{256} * 1024 * 1024;
  uint64_t groups = 1000000;
};

/// What went wrong with a query.
enum class QueryFault : uint8_t {
  kNone,
  kQuery,     ///< it is no question that can be answered: `message` says why
  kMemory,    ///< it needs more memory, or more groups, than it may take
  kTime,      ///< it takes longer than it may
  kRow,       ///< a row is too long
  kSyntax,    ///< a row is not JSON
  kPlace,     ///< there are no rows where they should be
  kRead,      ///< the host could not read: it knows why
  kDatabase,  ///< it is a database that cannot be read: `message` says why
};

/// A failure, and how far the query had come.
struct QueryFailure {
  QueryFault fault = QueryFault::kNone;
  std::string message;
  std::string table;
  uint64_t row = 0;
  uint64_t rows_read = 0;
  uint64_t groups = 0;
};

/// One question and the tables that it may name. Copying is impossible; memory is bounded by the
/// limits.
class TableQuery {
 public:
  TableQuery(ReadArtifact read, QueryLimits limits);
  TableQuery(const TableQuery&) = delete;
  TableQuery& operator=(const TableQuery&) = delete;
  ~TableQuery();

  /// Adds a table of CSV, whose header begins at `start`. Numbers may have decimal commas if
  /// `commas` says so.
  bool add_csv(std::string_view name, uint32_t artifact, uint64_t start, char delimiter,
               char newline, bool commas);
  /// Adds a table of one JSON value a line.
  bool add_ndjson(std::string_view name, uint32_t artifact);
  /// Adds a table of the elements of an array, or of the members of an object, at the place that
  /// `tokens` lead to; if `is_row`, of that value alone.
  bool add_json(std::string_view name, uint32_t artifact, std::span<const std::string> tokens,
                bool is_row);
  /// Adds a table of the lines of a text, with the columns `number` and `line`.
  bool add_lines(std::string_view name, uint32_t artifact);

  /// Takes a database of SQLite of so many bytes, whose tables have their own names; no others can
  /// be added. `rows` is the table that is called so, too; if empty, the only one is. `is_known`
  /// leaves out the check of a file that passed it before.
  bool open_database(uint32_t artifact, uint64_t size, bool is_known, const std::string& rows);

  /// Names members that rows of JSON may have behind the first thousand: tables that are added from
  /// now on, and have so many, have a column for each.
  void want_members(std::vector<std::string> names);

  /// Takes one SELECT.
  bool prepare(std::string_view sql);
  std::vector<std::string> columns() const;

  /// Appends rows to `out`, as `append_value` writes their cells, until there are `bytes` or no
  /// more rows. False when it fails; `is_over` tells whether that were all rows.
  bool read_rows(std::string& out, size_t bytes);
  bool is_over() const;

  /// The tables as JSON: `[{"name","columns":[{"name","type","commas","isRead"}],"longer","isOpen",
  /// "isRead"}]`. Columns that have decimal commas say so, and so do tables of which some of the
  /// first rows have more cells than columns, those whose rows may have other members, and whatever
  /// the query reads. Of a database `{"isChecked","hadLog","tables":[{"name","isView","refusal",
  /// "columns":[{"name","type"}]}]}`: whether the check came to its end, whether it was written
  /// with a log, and why a table cannot be asked.
  std::string describe() const;
  const QueryFailure& failure() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice

// Rows of CSV (RFC 4180) and its relatives.
//
// A quote opens a field that begins with it. Inside quotes, two of them stand for one, and line
// breaks belong to the field. What follows the closing quote belongs to the field too, and a quote
// inside any other field is an ordinary character. Empty lines are no rows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tables/rows.h"
#include "tables/window.h"

namespace sluice::tables {

/// How records and cells are separated.
struct Dialect {
  char delimiter = ',';
  /// What ends records: a line feed stands for CR LF too.
  char newline = '\n';
};

/// Finds the cells of CSV, 64 bytes at a time. The cells are the same whatever `window` is.
class CsvScanner {
 public:
  /// The longest record.
  static constexpr size_t kMaxRecord = size_t{1024} * 1024;

  CsvScanner(Read read, Dialect dialect, size_t window = Window::kBytes);

  /// Goes to a byte where a record begins. Up to `fields` cells of each record are found.
  void begin(uint64_t offset, size_t fields);
  Step next();
  /// Cells of the record that were found.
  size_t fields() const { return ends_.size(); }
  /// Whether the record is the last one, and ends within quotes.
  bool is_unclosed() const;
  /// The text of a cell, without its quotes. It stays until the next record.
  std::string_view text(size_t field);
  /// Where the record begins, and where the next one does.
  uint64_t start() const { return window_.base() + begin_; }
  uint64_t offset() const { return window_.base() + at_; }

 private:
  enum class Found : uint8_t { kRecord, kNeedsMore, kEmpty };

  Found find_record();
  bool refill();
  void find_marks();
  std::string_view unquote(std::string_view field, size_t index);

  Window window_;
  Dialect dialect_;
  /// A bit for each byte that ends a cell, and for each that ends a record.
  std::vector<uint64_t> marks_;
  std::vector<uint64_t> breaks_;
  size_t begin_ = 0;
  size_t at_ = 0;
  size_t wanted_ = 0;
  std::vector<size_t> ends_;
  std::vector<std::string> unquoted_;
};

/// The table that CSV is: its first record names the columns.
struct CsvTable {
  Dialect dialect;
  /// Where the header is, in bytes.
  uint64_t start = 0;
  /// A comma in a number is a decimal one, as in `1.234,5`: cells are not separated by them.
  bool has_commas = false;
  /// Where the first row is.
  uint64_t rows = 0;
  std::vector<Column> columns;
  /// How many of the first rows have more cells than the header. These cells are in no column.
  size_t longer = 0;
  std::shared_ptr<Seen> seen;
};

/// Reads header and first rows. The step is `kRow` for a table, `kEnd` for a text without rows.
Step open_csv(const Read& read, CsvTable& table);

std::unique_ptr<Rows> make_csv_rows(Read read, const CsvTable& table);

}  // namespace sluice::tables

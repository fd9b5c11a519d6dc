// Rows of a text, one after the other, and their cells: what a virtual table reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sluice::tables {

/// Reads bytes of an artifact from an offset on into `into`. Fewer than fit only at the end. -1
/// when it fails, and the host knows why.
using Read = std::function<ptrdiff_t(uint64_t offset, std::span<char> into)>;

/// What a column holds, by its first rows.
enum class Type : uint8_t { kText, kInteger, kReal, kAny };

/// What a cell holds. `text` stays until the next row is read.
struct Cell {
  enum class Kind : uint8_t { kNull, kInteger, kReal, kText };

  Kind kind = Kind::kNull;
  int64_t integer = 0;
  double real = 0;
  std::string_view text;
};

/// A column as SQL sees it.
struct Column {
  std::string name;
  Type type = Type::kText;
  /// Its numbers have decimal commas.
  bool has_commas = false;
};

/// The texts that were read in a column of numbers, each once however often it was read.
struct OddCells {
  uint64_t count = 0;
  /// The first of them.
  std::string first;
  /// Where the row of the last one begins.
  uint64_t place = 0;
};

/// What reading showed of rows besides their cells.
struct Seen {
  /// By column.
  std::vector<OddCells> odd;
  /// The last row ends within quotes, and may be all that follows one that was never closed.
  bool is_unclosed = false;
};

/// Names of columns as SQL tells them apart, which knows no case.
class ColumnNames {
 public:
  /// The name, or with `_2` behind it where it was given before.
  std::string add(std::string_view name);

 private:
  std::unordered_map<std::string, size_t> taken_;
};

/// What became of reading a row.
enum class Step : uint8_t { kRow, kEnd, kUnread, kTooLong, kDamaged, kLate, kTooMany };

/// The rows of a text. Each reader of it has one.
class Rows {
 public:
  Rows() = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  virtual ~Rows() = default;

  /// Goes back before the first row. Cells of the columns `wanted` alone are read afterwards.
  virtual void begin(std::span<const char> wanted) = 0;
  /// Goes on to the next row.
  virtual Step next() = 0;
  /// A cell of the row at hand, of a column that was wanted.
  virtual Cell cell(size_t column) = 0;
  /// Where the next row begins.
  virtual uint64_t offset() const = 0;
};

}  // namespace sluice::tables

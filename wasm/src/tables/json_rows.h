// Rows of JSON: elements of an array, members of an object, lines of NDJSON.
//
// A row that is an object has its members for cells, one that is an array `column_1` and so on, any
// other value is the cell `value`. Members of an object that are rows have a cell `key` besides.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tables/rows.h"
#include "tables/window.h"

namespace sluice::tables {

/// Where the rows of a text are.
struct JsonPlace {
  bool is_lines = false;
  /// The value that is found is the only row.
  bool is_row = false;
  /// Keys and indices that lead to the array or object.
  std::vector<std::string> tokens;
};

/// Goes through the rows of a text. Brackets, quotes and separators have to be right; what is
/// inside a value that is not asked for is not looked at more closely.
class JsonScanner {
 public:
  /// The longest row.
  static constexpr size_t kMaxRow = size_t{4} * 1024 * 1024;
  static constexpr size_t kMaxDepth = 512;

  /// A cell, and its name.
  struct Member {
    std::string_view name;
    std::string_view source;
  };

  JsonScanner(Read read, JsonPlace place, size_t window = Window::kBytes);

  /// Goes before the first row. `kEnd` if there is nothing at the place, or no rows.
  Step begin();
  Step next();
  /// The cells of the row, until the next one.
  std::span<const Member> members() const { return members_; }
  /// The row's key in the object of rows, as it is written.
  std::string_view key() const { return key_; }
  /// Whether the row is an array.
  bool is_array() const { return is_array_; }
  bool has_keys() const { return is_object_ && !place_.is_row && !place_.is_lines; }
  uint64_t offset() const { return window_.base() + at_; }

 private:
  enum class Found : uint8_t { kYes, kNeedsMore, kNo };

  char peek();
  Step enter(std::string_view token);
  Step skip_far();
  Step take_name(std::string& name);
  Found read_row(size_t& at);
  Found skip_value(size_t& at) const;
  Found skip_string(size_t& at) const;
  Found read_members(size_t& at);
  void skip_white(size_t& at) const;
  Step fail() const { return has_failed_ ? Step::kUnread : Step::kDamaged; }

  JsonPlace place_;
  Window window_;
  size_t at_ = 0;
  bool has_failed_ = false;
  bool is_object_ = false;
  bool is_first_ = true;
  bool is_over_ = false;
  bool is_array_ = false;
  std::string_view key_;
  std::vector<Member> members_;
};

/// A table of JSON: its columns are the members of the first rows.
struct JsonTable {
  JsonPlace place;
  std::vector<Column> columns;
  /// The members that they are, whose names need not differ in SQL.
  std::vector<std::string> members;
  /// The first column is the key of the row.
  bool has_keys = false;
  /// There are more rows than those that were looked at, and they may have other members.
  bool is_open = false;
};

/// Reads the first rows. Members that later ones alone may have are columns if they are `wanted`.
/// `kEnd` if there is nothing at the place.
Step open_json(const Read& read, JsonTable& table, std::span<const std::string> wanted = {});

std::unique_ptr<Rows> make_json_rows(Read read, const JsonTable& table);

}  // namespace sluice::tables

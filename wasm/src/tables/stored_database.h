// An artifact that is a database of SQLite. It comes from anyone, so that nothing in it is
// believed: it is read-only, it is looked over before the first question, and views that call
// functions are refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tables/artifact_file.h"
#include "tables/database.h"

namespace sluice::tables {

class StoredDatabase {
 public:
  StoredDatabase(Database& database, Read read, uint64_t size)
      : database_(database), file_(std::move(read), size) {}

  /// Opens it for questions. `is_known` leaves out the check, which a file passed before. `rows` is
  /// the table that has this name too; if empty, the only one there is. False with a failure.
  bool open(bool is_known, const std::string& rows);

  /// As `TableQuery::describe` says.
  std::string describe() const;

 private:
  struct StoredTable {
    std::string name;
    bool is_view = false;
    std::vector<std::pair<std::string, std::string>> columns;
    /// Why it cannot be asked.
    std::string refusal;
  };

  /// What the schema says of one.
  struct Entry {
    std::string name;
    bool is_view;
    std::string sql;
  };

  Database& database_;
  ArtifactFile file_;
  bool is_checked_ = false;
  std::vector<StoredTable> tables_;

  bool refuse(std::string sentence);
  bool check_size();
  bool check_pages();
  std::optional<std::vector<Entry>> read_schema(const char* sql);
  bool copy_views(const std::vector<Entry>& entries);
  bool list();
  void look_at(StoredTable& table);
  void name_rows(const std::string& rows);
};

}  // namespace sluice::tables

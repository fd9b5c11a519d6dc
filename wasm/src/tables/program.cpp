#include "tables/program.h"

#include <sqlite3.h>

#include "tables/database.h"

namespace sluice::tables {

std::vector<Instruction> list_instructions(sqlite3* database, std::string_view sql) {
  std::vector<Instruction> program;
  const std::string explain = "EXPLAIN " + std::string(sql);
  sqlite3_stmt* made = nullptr;
  sqlite3_prepare_v2(database, explain.data(), static_cast<int>(explain.size()), &made, nullptr);
  const Statement statement(made);
  while (made != nullptr && sqlite3_step(made) == SQLITE_ROW) {
    const auto read_text = [&](int column) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(made, column));
      return std::string(text == nullptr ? "" : text);
    };
    program.push_back({read_text(1), sqlite3_column_int(made, 2), sqlite3_column_int(made, 3),
                       sqlite3_column_int(made, 4), read_text(5), sqlite3_column_int(made, 6)});
  }
  return program;
}

}  // namespace sluice::tables

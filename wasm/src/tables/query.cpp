#include <sqlite3.h>

#include <cstring>

#include "sluice/tables.h"
#include "sluice/tape.h"
#include "tables/csv.h"
#include "tables/database.h"
#include "tables/groups.h"
#include "tables/joins.h"
#include "tables/json_rows.h"
#include "tables/lines.h"
#include "tables/stored_database.h"

namespace sluice {

namespace {

using namespace tables;

class CsvSource : public Table {
 public:
  CsvSource(Read read, CsvTable table) : read_(std::move(read)), table_(std::move(table)) {}
  const std::vector<Column>& columns() const override { return table_.columns; }
  size_t longer() const override { return table_.longer; }
  const Seen* seen() const override { return table_.seen.get(); }
  std::unique_ptr<Rows> make_rows() override { return make_csv_rows(read_, table_); }

 private:
  Read read_;
  CsvTable table_;
};

class JsonSource : public Table {
 public:
  JsonSource(Read read, JsonTable table) : read_(std::move(read)), table_(std::move(table)) {}
  const std::vector<Column>& columns() const override { return table_.columns; }
  bool is_open() const override { return table_.is_open; }
  std::unique_ptr<Rows> make_rows() override { return make_json_rows(read_, table_); }

 private:
  Read read_;
  JsonTable table_;
};

class LineSource : public Table {
 public:
  explicit LineSource(Read read) : read_(std::move(read)), columns_(list_line_columns()) {}
  const std::vector<Column>& columns() const override { return columns_; }
  std::unique_ptr<Rows> make_rows() override { return make_line_rows(read_); }

 private:
  Read read_;
  std::vector<Column> columns_;
};

/// Bytes as SQL writes them; of many the first ones, and how many there are.
std::string show_blob(std::string_view bytes) {
  constexpr size_t kWhole = 32;
  constexpr size_t kFirst = 16;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "x'";
  const std::string_view shown = bytes.size() <= kWhole ? bytes : bytes.substr(0, kFirst);
  for (const char each : shown) {
    text += kDigits[static_cast<uint8_t>(each) >> 4];
    text += kDigits[static_cast<uint8_t>(each) & 0xF];
  }
  if (shown.size() == bytes.size()) return text + '\'';
  return text + "…' (" + std::to_string(bytes.size()) + " bytes)";
}

/// A cell of an answer: a character that tells what it is, and for a number eight bytes, for a text
/// the length in four and its bytes. A whole number that a double does not hold is text.
void append_cell(std::string& out, sqlite3_stmt* statement, int column) {
  constexpr sqlite3_int64 kSafe = (sqlite3_int64{1} << 53) - 1;
  const auto append_number = [&](double number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    out += 'd';
    out.append(bytes, sizeof bytes);
  };
  const auto append_text = [&](std::string_view text) {
    const auto size = static_cast<uint32_t>(text.size());
    char bytes[sizeof size];
    std::memcpy(bytes, &size, sizeof size);
    out += 't';
    out.append(bytes, sizeof bytes);
    out.append(text);
  };
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      out += 'n';
      return;
    case SQLITE_FLOAT:
      append_number(sqlite3_column_double(statement, column));
      return;
    case SQLITE_INTEGER: {
      const sqlite3_int64 number = sqlite3_column_int64(statement, column);
      if (number >= -kSafe && number <= kSafe) {
        append_number(static_cast<double>(number));
        return;
      }
      break;
    }
    case SQLITE_BLOB:
      append_text(show_blob({static_cast<const char*>(sqlite3_column_blob(statement, column)),
                             static_cast<size_t>(sqlite3_column_bytes(statement, column))}));
      return;
    default:
      break;
  }
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
  append_text({text, size});
}

}  // namespace

struct TableQuery::State {
  State(ReadArtifact reader, QueryLimits limits) : read(std::move(reader)), database(limits) {}

  Read make_read(uint32_t artifact) {
    return [this, artifact](uint64_t offset, std::span<char> into) {
      return read(artifact, offset, into);
    };
  }
  /// Forgets that a table was missing, or could not be added: the next one may be what is meant.
  void forgive() {
    QueryFailure& failure = database.failure();
    if (failure.fault == QueryFault::kQuery || failure.fault == QueryFault::kPlace) failure = {};
  }
  bool add(std::string_view name, std::unique_ptr<Table> table) {
    database.tables().named.push_back({std::string(name), std::move(table), {}, {}});
    return database.add();
  }
  bool refuse(std::string_view name, Step step) {
    QueryFailure& failure = database.failure();
    failure.table = name;
    failure.row = 1;
    failure.fault = step == Step::kUnread    ? QueryFault::kRead
                    : step == Step::kTooLong ? QueryFault::kRow
                    : step == Step::kDamaged ? QueryFault::kSyntax
                                             : QueryFault::kPlace;
    return false;
  }
  bool add_json(std::string_view name, uint32_t artifact, JsonPlace place) {
    JsonTable table;
    table.place = std::move(place);
    forgive();
    const Step step = open_json(make_read(artifact), table, members);
    if (step != Step::kRow) return refuse(name, step);
    // SQL has no table without a column.
    if (table.columns.empty()) {
      table.columns.push_back({"value", tables::Type::kAny});
      table.members.emplace_back("value");
    }
    return add(name, std::make_unique<JsonSource>(make_read(artifact), std::move(table)));
  }

  ReadArtifact read;
  /// Its file is open as long as the database is.
  std::unique_ptr<StoredDatabase> stored;
  Database database;
  std::vector<std::string> members;
  std::unique_ptr<Groups> groups;
  Statement statement;
  bool is_over = false;
};

TableQuery::TableQuery(ReadArtifact read, QueryLimits limits)
    : state_(std::make_unique<State>(std::move(read), limits)) {}
TableQuery::~TableQuery() = default;

bool TableQuery::add_csv(std::string_view name, uint32_t artifact, uint64_t start, char delimiter,
                         char newline, bool commas) {
  CsvTable table;
  table.dialect = {delimiter, newline};
  table.start = start;
  table.has_commas = commas;
  const Step step = open_csv(state_->make_read(artifact), table);
  if (step != Step::kRow) return state_->refuse(name, step);
  return state_->add(name,
                     std::make_unique<CsvSource>(state_->make_read(artifact), std::move(table)));
}

bool TableQuery::add_ndjson(std::string_view name, uint32_t artifact) {
  return state_->add_json(name, artifact, {true, false, {}});
}

bool TableQuery::add_json(std::string_view name, uint32_t artifact,
                          std::span<const std::string> tokens, bool is_row) {
  return state_->add_json(name, artifact, {false, is_row, {tokens.begin(), tokens.end()}});
}

bool TableQuery::add_lines(std::string_view name, uint32_t artifact) {
  return state_->add(name, std::make_unique<LineSource>(state_->make_read(artifact)));
}

bool TableQuery::open_database(uint32_t artifact, uint64_t size, bool is_known,
                               const std::string& rows) {
  state_->stored =
      std::make_unique<StoredDatabase>(state_->database, state_->make_read(artifact), size);
  return state_->stored->open(is_known, rows);
}

void TableQuery::want_members(std::vector<std::string> names) {
  state_->members = std::move(names);
}

bool TableQuery::prepare(std::string_view sql) {
  Database& database = state_->database;
  state_->forgive();
  if (database.failure().fault != QueryFault::kNone) return false;
  state_->is_over = false;
  state_->statement = database.prepare(sql);
  if (!state_->statement) return false;
  if (state_->stored) return true;
  if (!keep_inner_tables(database, sql, state_->statement)) return false;
  auto groups = prepare_groups(database, sql);
  if (!groups) return true;
  state_->groups = std::move(groups->groups);
  state_->statement = std::move(groups->statement);
  return true;
}

std::vector<std::string> TableQuery::columns() const {
  std::vector<std::string> names;
  const int count = sqlite3_column_count(state_->statement.get());
  for (int column = 0; column < count; ++column) {
    names.emplace_back(sqlite3_column_name(state_->statement.get(), column));
  }
  return names;
}

bool TableQuery::read_rows(std::string& out, size_t bytes) {
  sqlite3_stmt* const statement = state_->statement.get();
  const int count = sqlite3_column_count(statement);
  while (out.size() < bytes && !state_->is_over) {
    const int result = sqlite3_step(statement);
    if (result != SQLITE_ROW) {
      state_->is_over = true;
      if (result == SQLITE_DONE) return true;
      state_->database.fail(result);
      return false;
    }
    for (int column = 0; column < count; ++column) append_cell(out, statement, column);
  }
  return true;
}

bool TableQuery::is_over() const {
  return state_->is_over;
}

std::string TableQuery::describe() const {
  if (state_->stored) return state_->stored->describe();
  constexpr std::string_view kTypes[] = {"TEXT", "INTEGER", "REAL", "ANY"};
  std::string text = "[";
  for (const Tables::Named& named : state_->database.tables().named) {
    text += text.size() > 1 ? ",{\"name\":\"" : "{\"name\":\"";
    append_escaped(text, named.name);
    text += "\",\"columns\":[";
    bool is_first = true;
    const Seen* const seen = named.table->seen();
    size_t index = 0;
    for (const Column& column : named.table->columns()) {
      text += is_first ? "{\"name\":\"" : ",{\"name\":\"";
      append_escaped(text, column.name);
      text += "\",\"type\":\"";
      text += kTypes[static_cast<size_t>(column.type)];
      text += '"';
      if (column.has_commas) text += ",\"commas\":true";
      if (seen != nullptr && seen->odd[index].count > 0) {
        text += ",\"texts\":" + std::to_string(seen->odd[index].count) + ",\"text\":\"";
        append_escaped(text, seen->odd[index].first);
        text += '"';
      }
      ++index;
      text += named.read.contains(column.name) ? ",\"isRead\":true}" : "}";
      is_first = false;
    }
    text += ']';
    if (named.table->longer() > 0) text += ",\"longer\":" + std::to_string(named.table->longer());
    if (seen != nullptr && seen->is_unclosed) text += ",\"isUnclosed\":true";
    if (named.table->is_open()) text += ",\"isOpen\":true";
    text += named.read.empty() ? "}" : ",\"isRead\":true}";
  }
  return text + ']';
}

const QueryFailure& TableQuery::failure() const {
  return state_->database.failure();
}

}  // namespace sluice

#include "tables/stored_database.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice::tables {

namespace {

/// Milliseconds that the check may take. What it does not reach is found damaged when it is read.
constexpr double kCheckTime = 2000;

/// Tables and views that are told.
constexpr size_t kMaxTables = 1000;

/// Characters of a declared type that are told.
constexpr size_t kMaxType = 40;

constexpr size_t kHeader = 100;

/// Milliseconds that looking at one view may take, and at all of them; and bytes.
constexpr double kViewTime = 1000;
constexpr double kViewsTime = 2000;
constexpr sqlite3_int64 kViewMemory = 16 * 1024 * 1024;

/// As long as it lives, SQLite takes no more memory.
class HeapLimit {
 public:
  explicit HeapLimit(sqlite3_int64 bytes) : before_(sqlite3_hard_heap_limit64(-1)) {
    sqlite3_hard_heap_limit64(std::min(before_, bytes));
  }
  HeapLimit(const HeapLimit&) = delete;
  HeapLimit& operator=(const HeapLimit&) = delete;
  ~HeapLimit() { sqlite3_hard_heap_limit64(before_); }

 private:
  sqlite3_int64 before_;
};

uint32_t read_big(std::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (size_t index = 0; index < 4; ++index)
    number = number << 8 | static_cast<uint8_t>(bytes[at + index]);
  return number;
}

std::string_view read_text(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr
             ? std::string_view()
             : std::string_view(text, static_cast<size_t>(sqlite3_column_bytes(statement, column)));
}

/// The first number behind `word` in a message of SQLite's check; empty where there is none. The
/// rest of it may quote the file.
std::string find_number(std::string_view message, std::string_view word) {
  const size_t at = message.find(word);
  if (at == std::string_view::npos) return "";
  const size_t from = at + word.size();
  size_t end = from;
  while (end < message.size() && is_digit(message[end])) ++end;
  return std::string(message.substr(from, end - from));
}

/// Whether a message of the check is about what cells hold, and not about how they are stored.
bool is_about_values(std::string_view message) {
  constexpr std::array<std::string_view, 5> kOfValues{"NULL value in", "CHECK constraint",
                                                      "NUMERIC value in", "TEXT value in", "non-"};
  return std::any_of(kOfValues.begin(), kOfValues.end(),
                     [&](std::string_view each) { return message.starts_with(each); });
}

}  // namespace

bool StoredDatabase::refuse(std::string sentence) {
  QueryFailure& failure = database_.failure();
  failure = {};
  failure.fault = file_.has_failed() ? QueryFault::kRead : QueryFault::kDatabase;
  failure.message = std::move(sentence);
  return false;
}

/// Whether all pages are there that the header promises (SQLite file format §1.3).
bool StoredDatabase::check_size() {
  std::array<char, kHeader> bytes{};
  const ptrdiff_t count = file_.read(0, bytes);
  if (count < 0) return refuse("");
  if (static_cast<size_t>(count) < kHeader) {
    return refuse("The database is cut off within its header: fetch the file again.");
  }
  const std::string_view header(bytes.data(), bytes.size());
  const uint32_t size = read_big(header, 14) & 0xFFFF;  // bytes 16 and 17
  const uint64_t page = size == 1 ? 65536 : size;
  const uint64_t pages = read_big(header, 28);
  // Old versions of SQLite did not keep the number of pages.
  const bool is_kept = read_big(header, 24) == read_big(header, 92);
  if (!std::has_single_bit(page) || page < 512 || !is_kept || pages * page <= file_.size())
    return true;
  return refuse("The database is cut off: it has " + std::to_string(file_.size() / page) +
                " of its " + std::to_string(pages) + " pages. Fetch the file again.");
}

bool StoredDatabase::check_pages() {
  // Functions in constraints are none of our business.
  if (!database_.run("PRAGMA ignore_check_constraints=1")) return false;
  const Database::Hurry hurry(database_, kCheckTime);
  const Statement check = database_.prepare_own("PRAGMA main.quick_check(20)");
  int result = sqlite3_errcode(database_.get());
  while (check && (result = sqlite3_step(check.get())) == SQLITE_ROW) {
    const std::string_view message = read_text(check.get(), 0);
    if (message == "ok" || is_about_values(message)) continue;
    std::string page = find_number(message, "page ");
    return refuse(explain_damage(page.empty() ? find_number(message, "Page ") : page));
  }
  is_checked_ = result == SQLITE_DONE;
  if (is_checked_ || (result & 0xFF) == SQLITE_INTERRUPT) return true;
  database_.fail(result);
  return false;
}

/// Finds the columns of a table, or why it cannot be asked. A view may call no function.
void StoredDatabase::look_at(StoredTable& table) {
  const std::string sql = "SELECT * FROM " + quote(table.name, '"');
  // Views may be made of views again and again.
  const HeapLimit limit(sqlite3_memory_used() + kViewMemory);
  const Database::Hurry hurry(database_, kViewTime);
  const Statement statement = database_.prepare_strictly(sql);
  if (!statement) {
    const std::string_view message = sqlite3_errmsg(database_.get());
    table.refusal = !database_.denied().empty() ? "calls the function " + database_.denied()
                    : message.starts_with("no such module")
                        ? "is made by an extension that is not here"
                        : "cannot be read";
    return;
  }
  const int count = sqlite3_column_count(statement.get());
  for (int column = 0; column < count; ++column) {
    const char* const name = sqlite3_column_name(statement.get(), column);
    const char* const type = sqlite3_column_decltype(statement.get(), column);
    table.columns.emplace_back(name == nullptr ? "" : name,
                               std::string_view(type == nullptr ? "" : type).substr(0, kMaxType));
  }
}

/// Lists what `sql` selects: a name, whether it is a view, and how it was made.
std::optional<std::vector<StoredDatabase::Entry>> StoredDatabase::read_schema(const char* sql) {
  std::vector<Entry> entries;
  const Statement statement = database_.prepare_own(sql);
  int result = statement ? SQLITE_ROW : SQLITE_ERROR;
  while (statement && (result = sqlite3_step(statement.get())) == SQLITE_ROW) {
    entries.push_back({std::string(read_text(statement.get(), 0)),
                       sqlite3_column_int(statement.get(), 1) != 0,
                       std::string(read_text(statement.get(), 2))});
    if (entries.size() == kMaxTables) return entries;
  }
  if (result == SQLITE_DONE) return entries;
  database_.fail(sqlite3_errcode(database_.get()));
  return std::nullopt;
}

/// Views of the file are switched off, and made once more for this connection, where they can be
/// looked at and dropped. What one is called may be something else than what its entry says.
bool StoredDatabase::copy_views(const std::vector<Entry>& entries) {
  constexpr std::string_view kBegin = "CREATE VIEW ";
  for (const Entry& entry : entries) {
    if (!entry.is_view || !entry.sql.starts_with(kBegin)) continue;
    database_.run_own("CREATE TEMP VIEW " + entry.sql.substr(kBegin.size()));
  }
  const auto views = read_schema("SELECT name, 1, '' FROM temp.sqlite_schema WHERE type = 'view'");
  if (!views) return false;
  std::vector<StoredTable> refused;
  for (const Entry& view : *views) {
    StoredTable table{view.name, true, {}, {}};
    look_at(table);
    if (!table.refusal.empty()) refused.push_back(std::move(table));
  }
  // Only now, since one may be refused for what another one calls.
  for (const StoredTable& table : refused)
    database_.run_own("DROP VIEW temp." + quote(table.name, '"'));
  for (StoredTable& table : tables_) {
    const auto found = std::find_if(refused.begin(), refused.end(), [&](const StoredTable& each) {
      return each.name == table.name;
    });
    if (table.is_view && found != refused.end()) table.refusal = found->refusal;
  }
  return true;
}

bool StoredDatabase::list() {
  const auto entries = read_schema(
      "SELECT name, type = 'view', sql FROM main.sqlite_schema WHERE type IN ('table', 'view') "
      "AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY rowid");
  if (!entries) return false;
  for (const Entry& entry : *entries) tables_.push_back({entry.name, entry.is_view, {}, {}});
  const Database::Hurry hurry(database_, kViewsTime);
  if (!copy_views(*entries)) return false;
  for (StoredTable& table : tables_) {
    if (table.refusal.empty()) look_at(table);
  }
  return true;
}

void StoredDatabase::name_rows(const std::string& rows) {
  const auto has = [&](std::string_view name) {
    return std::any_of(tables_.begin(), tables_.end(), [&](const StoredTable& each) {
      return lowered(each.name) == lowered(name);
    });
  };
  if (rows.empty() && (tables_.size() != 1 || has("rows"))) return;
  const std::string& name = rows.empty() ? tables_[0].name : rows;
  if (lowered(name) == "rows" || !has(name)) return;
  // Of a table that cannot be asked the question tells why.
  database_.run_own("CREATE TEMP VIEW rows AS SELECT * FROM " + quote(name, '"'));
}

bool StoredDatabase::open(bool is_known, const std::string& rows) {
  if (!check_size()) return false;
  offer(&file_);
  if (!database_.connect(kArtifactSystem, SQLITE_OPEN_READONLY, kArtifactSystem)) return false;
  for (const int option : {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW})
    sqlite3_db_config(database_.get(), option, 0, nullptr);
  database_.watch([this] { return file_.has_failed(); });
  if (!database_.run("PRAGMA cell_size_check=1")) return false;
  is_checked_ = is_known;
  if (!is_known && !check_pages()) return false;
  if (!list()) return false;
  if (tables_.empty()) return refuse("The database has no tables: it is empty.");
  name_rows(rows);
  return true;
}

std::string StoredDatabase::describe() const {
  std::string text = is_checked_ ? "{\"isChecked\":true," : "{";
  if (file_.had_log()) text += "\"hadLog\":true,";
  text += "\"tables\":[";
  for (const StoredTable& table : tables_) {
    if (text.back() != '[') text += ',';
    text += "{\"name\":\"";
    append_escaped(text, table.name);
    text += table.is_view ? "\",\"isView\":true" : "\"";
    if (!table.refusal.empty()) {
      text += ",\"refusal\":\"";
      append_escaped(text, table.refusal);
      text += '"';
    }
    text += ",\"columns\":[";
    for (const auto& [name, type] : table.columns) {
      text += text.back() == '[' ? "{\"name\":\"" : ",{\"name\":\"";
      append_escaped(text, name);
      text += "\",\"type\":\"";
      append_escaped(text, type);
      text += "\"}";
    }
    text += "]}";
  }
  return text + "]}";
}

}  // namespace sluice::tables

#include "tables/table.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "tables/constraint.h"

namespace sluice::tables {

namespace {

constexpr const char* kModule = "sluice";

/// Rows between two looks at the clock, less one.
constexpr uint64_t kRowsPerLook = 0xFFF;

struct VirtualTable : sqlite3_vtab {
  Tables* tables = nullptr;
  Tables::Named* named = nullptr;
};

/// SQLite tells apart the first 63 columns; the last bit stands for all behind them.
constexpr size_t kToldApart = 63;

struct Cursor : sqlite3_vtab_cursor {
  std::unique_ptr<Rows> rows;
  std::vector<Constraint> constraints;
  std::vector<Type> types;
  sqlite3_int64 number = 0;
  bool is_over = true;
};

VirtualTable& get_table(sqlite3_vtab* table) {
  return *static_cast<VirtualTable*>(table);
}

/// As SQL calls them, by `Type`.
constexpr std::array<const char*, 4> kTypes{" TEXT", " INTEGER", " REAL", ""};

int create_table(sqlite3* database, void* context, int count, const char* const* arguments,
                 sqlite3_vtab** made, char** /*error*/) {
  auto& tables = *static_cast<Tables*>(context);
  if (count < 4) return SQLITE_ERROR;
  size_t index = 0;
  const std::string_view argument(arguments[3]);
  std::from_chars(argument.data(), argument.data() + argument.size(), index);
  if (index >= tables.named.size()) return SQLITE_ERROR;
  Tables::Named& named = tables.named[index];
  std::string declaration = "CREATE TABLE x(";
  for (const Column& column : named.table->columns()) {
    if (declaration.back() != '(') declaration += ',';
    declaration += quote(column.name, '"');
    declaration += kTypes[static_cast<size_t>(column.type)];
  }
  const int result = sqlite3_declare_vtab(database, (declaration + ")").c_str());
  if (result != SQLITE_OK) return result;
  auto* table = new VirtualTable();
  table->tables = &tables;
  table->named = &named;
  char* const address = sqlite3_mprintf("vtab:%p", static_cast<sqlite3_vtab*>(table));
  named.address = address == nullptr ? "" : address;
  sqlite3_free(address);
  *made = table;
  return SQLITE_OK;
}

int destroy_table(sqlite3_vtab* table) {
  delete static_cast<VirtualTable*>(table);
  return SQLITE_OK;
}

/// What it costs to look at a row, and how many there may be, for SQLite to choose the order of
/// tables.
constexpr double kGuessedRows = 1e6;

/// The plan is text: the columns that are read, in hexadecimal, and an operator and a column for
/// each condition.
int plan(sqlite3_vtab* /*table*/, sqlite3_index_info* info) {
  std::string text;
  std::array<char, 17> hex{};
  const auto [end, error] = std::to_chars(hex.data(), hex.data() + hex.size(), info->colUsed, 16);
  text.assign(hex.data(), end);
  int arguments = 0;
  double rows = kGuessedRows;
  for (int index = 0; index < info->nConstraint; ++index) {
    const auto& constraint = info->aConstraint[index];
    const bool is_binary = std::string_view(sqlite3_vtab_collation(info, index)) == "BINARY";
    if (!constraint.usable || constraint.iColumn < 0 || !Constraint::is_known(constraint.op))
      continue;
    if (!is_binary && constraint.op != SQLITE_INDEX_CONSTRAINT_LIKE) continue;
    info->aConstraintUsage[index].argvIndex = ++arguments;
    text += ' ' + std::to_string(constraint.op) + ':' + std::to_string(constraint.iColumn);
    rows /= constraint.op == SQLITE_INDEX_CONSTRAINT_EQ ? 10 : 2;
  }
  info->idxStr = sqlite3_mprintf("%s", text.c_str());
  if (info->idxStr == nullptr) return SQLITE_NOMEM;
  info->needToFreeIdxStr = 1;
  info->estimatedCost = kGuessedRows;
  info->estimatedRows = static_cast<sqlite3_int64>(rows);
  return SQLITE_OK;
}

int open_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** made) {
  auto* cursor = new Cursor();
  Table& source = *get_table(table).named->table;
  cursor->rows = source.make_rows();
  for (const Column& column : source.columns()) cursor->types.push_back(column.type);
  *made = cursor;
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int go_on(sqlite3_vtab_cursor* base) {
  auto& cursor = *static_cast<Cursor*>(base);
  auto& table = get_table(base->pVtab);
  for (;;) {
    const Step step = cursor.rows->next();
    cursor.is_over = step != Step::kRow;
    if (step == Step::kEnd) return SQLITE_OK;
    ++cursor.number;
    if (step != Step::kRow) {
      table.tables->failure = {step, static_cast<uint64_t>(cursor.number), table.named->name};
      return SQLITE_IOERR_READ;
    }
    if ((++table.tables->rows & kRowsPerLook) == 0 && table.tables->is_late()) {
      table.tables->failure = {Step::kLate, static_cast<uint64_t>(cursor.number),
                               table.named->name};
      return SQLITE_INTERRUPT;
    }
    const bool is_allowed =
        std::all_of(cursor.constraints.begin(), cursor.constraints.end(),
                    [&](const Constraint& some) { return some.allows(*cursor.rows); });
    if (is_allowed) return SQLITE_OK;
  }
}

int begin_rows(sqlite3_vtab_cursor* base, int /*number*/, const char* text, int /*count*/,
               sqlite3_value** values) {
  auto& cursor = *static_cast<Cursor*>(base);
  std::string_view rest(text);
  const auto read = [&](auto& number, int radix) {
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), number, radix);
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  };
  uint64_t used = 0;
  read(used, 16);
  std::vector<char> wanted(cursor.types.size());
  for (size_t column = 0; column < wanted.size(); ++column) {
    wanted[column] = static_cast<char>(used >> std::min(column, kToldApart) & 1);
  }
  cursor.constraints.clear();
  for (int index = 0; !rest.empty(); ++index) {
    int op = 0;
    size_t column = 0;
    rest.remove_prefix(1);
    read(op, 10);
    rest.remove_prefix(1);
    read(column, 10);
    wanted[column] = 1;
    auto constraint = Constraint::make(op, column, cursor.types[column], values[index]);
    if (constraint) cursor.constraints.push_back(std::move(*constraint));
  }
  cursor.number = 0;
  cursor.rows->begin(wanted);
  return go_on(base);
}

int is_over(sqlite3_vtab_cursor* cursor) {
  return static_cast<Cursor*>(cursor)->is_over ? 1 : 0;
}

/// Whether a double holds it.
bool is_exact(int64_t integer) {
  constexpr int64_t kMost = int64_t{1} << 53;
  return integer >= -kMost && integer <= kMost;
}

int give_cell(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  auto& cursor = *static_cast<Cursor*>(base);
  const Cell cell = cursor.rows->cell(static_cast<size_t>(column));
  switch (cell.kind) {
    case Cell::Kind::kNull:
      break;
    case Cell::Kind::kInteger:
      // `80` among `12.5` is divided as they are.
      if (cursor.types[static_cast<size_t>(column)] == Type::kReal && is_exact(cell.integer)) {
        sqlite3_result_double(context, static_cast<double>(cell.integer));
      } else {
        sqlite3_result_int64(context, cell.integer);
      }
      break;
    case Cell::Kind::kReal:
      sqlite3_result_double(context, cell.real);
      break;
    case Cell::Kind::kText:
      // The text dies with the row, and SQLite may keep it longer.
      sqlite3_result_text(
          context, cell.text.data(), static_cast<int>(cell.text.size()),
          get_table(base->pVtab).tables->may_borrow ? SQLITE_STATIC : SQLITE_TRANSIENT);
      break;
  }
  return SQLITE_OK;
}

int give_number(sqlite3_vtab_cursor* cursor, sqlite3_int64* number) {
  *number = static_cast<Cursor*>(cursor)->number;
  return SQLITE_OK;
}

const sqlite3_module kMethods = [] {
  sqlite3_module methods{};
  methods.xCreate = create_table;
  methods.xConnect = create_table;
  methods.xBestIndex = plan;
  methods.xDisconnect = destroy_table;
  methods.xDestroy = destroy_table;
  methods.xOpen = open_cursor;
  methods.xClose = close_cursor;
  methods.xFilter = begin_rows;
  methods.xNext = go_on;
  methods.xEof = is_over;
  methods.xColumn = give_cell;
  methods.xRowid = give_number;
  return methods;
}();

}  // namespace

std::string quote(std::string_view text, char mark) {
  std::string result(1, mark);
  for (const char character : text) {
    if (character == mark) result += mark;
    result += character;
  }
  return result += mark;
}

int add_table(sqlite3* database, Tables& tables) {
  const size_t index = tables.named.size() - 1;
  if (index == 0) {
    const int result = sqlite3_create_module(database, kModule, &kMethods, &tables);
    if (result != SQLITE_OK) return result;
  }
  const std::string sql = "CREATE VIRTUAL TABLE " + quote(tables.named[index].name, '"') +
                          " USING " + kModule + '(' + std::to_string(index) + ')';
  return sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
}

}  // namespace sluice::tables

#include "tables/table.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "tables/constraint.h"
#include "tables/leaders.h"
#include "tables/value.h"

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
  /// Whether these are all conditions that SQLite gave.
  bool is_sure = true;
  std::vector<Type> types;
  Leaders leaders;
  /// The column that they are of.
  size_t order = 0;
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

/// Rows that an answer may have, those included that it leaves out. 0 where that is not known, or
/// rows are not sorted, or what else they have to meet is not looked at here.
size_t find_limit(sqlite3_index_info* info) {
  if (info->nOrderBy == 0 || info->aOrderBy[0].iColumn < 0) return 0;
  uint64_t count = 0;
  bool is_limited = false;
  for (int index = 0; index < info->nConstraint; ++index) {
    const int op = info->aConstraint[index].op;
    if (op != SQLITE_INDEX_CONSTRAINT_LIMIT && op != SQLITE_INDEX_CONSTRAINT_OFFSET) {
      if (info->aConstraintUsage[index].argvIndex == 0) return 0;
      continue;
    }
    sqlite3_value* value = nullptr;
    if (sqlite3_vtab_rhs_value(info, index, &value) != SQLITE_OK ||
        sqlite3_value_type(value) != SQLITE_INTEGER || sqlite3_value_int64(value) < 0)
      return 0;
    count += static_cast<uint32_t>(std::min<sqlite3_int64>(sqlite3_value_int64(value), INT32_MAX));
    is_limited = is_limited || op == SQLITE_INDEX_CONSTRAINT_LIMIT;
  }
  return is_limited && count <= Leaders::kMost ? static_cast<size_t>(count) : 0;
}

/// The plan is text: the columns that are read, in hexadecimal, how many of the first rows in an
/// order are enough, or 0, and an operator and a column for each condition. Its number is the
/// column of that order, twice, and one more for the largest first.
int plan(sqlite3_vtab* table, sqlite3_index_info* info) {
  std::string conditions;
  int arguments = 0;
  double rows = kGuessedRows;
  for (int index = 0; index < info->nConstraint; ++index) {
    const auto& constraint = info->aConstraint[index];
    const bool is_binary = std::string_view(sqlite3_vtab_collation(info, index)) == "BINARY";
    if (!constraint.usable || constraint.iColumn < 0 || !Constraint::is_known(constraint.op))
      continue;
    if (!is_binary && constraint.op != SQLITE_INDEX_CONSTRAINT_LIKE) continue;
    info->aConstraintUsage[index].argvIndex = ++arguments;
    info->aConstraintUsage[index].omit = get_table(table).tables->omits_conditions ? 1 : 0;
    conditions += ' ' + std::to_string(constraint.op) + ':' + std::to_string(constraint.iColumn);
    rows /= constraint.op == SQLITE_INDEX_CONSTRAINT_EQ ? 10 : 2;
  }
  const size_t limit = find_limit(info);
  if (limit > 0) info->idxNum = info->aOrderBy[0].iColumn * 2 + info->aOrderBy[0].desc;
  std::array<char, 17> hex{};
  const auto [end, error] = std::to_chars(hex.data(), hex.data() + hex.size(), info->colUsed, 16);
  const std::string text = std::string(hex.data(), end) + ' ' + std::to_string(limit) + conditions;
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

/// Whether the row at hand meets the conditions, and comes early enough.
Verdict judge_row(Cursor& cursor) {
  Verdict all = cursor.is_sure ? Verdict::kYes : Verdict::kUnsure;
  for (const Constraint& constraint : cursor.constraints) {
    all = std::min(all, constraint.judge(*cursor.rows));
    if (all == Verdict::kNo) return all;
  }
  if (!cursor.leaders.are_kept()) return all;
  const Value value = read_value(cursor.rows->cell(cursor.order), cursor.types[cursor.order]);
  if (cursor.leaders.is_behind(value)) return Verdict::kNo;
  // One that may not be in the answer takes the place of none.
  if (all == Verdict::kYes) cursor.leaders.add(value);
  return all;
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
    const Verdict verdict = judge_row(cursor);
    if (verdict == Verdict::kNo) continue;
    RowSink* const sink = table.tables->sink;
    if (sink == nullptr || verdict == Verdict::kUnsure) return SQLITE_OK;
    const RowSink::Taken taken = sink->take_row(*cursor.rows, cursor.types);
    if (taken == RowSink::Taken::kFull) return SQLITE_NOMEM;
    if (taken == RowSink::Taken::kNo) return SQLITE_OK;
  }
}

int begin_rows(sqlite3_vtab_cursor* base, int order, const char* text, int /*count*/,
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
  size_t limit = 0;
  rest.remove_prefix(1);
  read(limit, 10);
  cursor.leaders.begin(limit, order % 2 == 1);
  cursor.order = static_cast<size_t>(order / 2);
  std::vector<char> wanted(cursor.types.size());
  for (size_t column = 0; column < wanted.size(); ++column) {
    wanted[column] = static_cast<char>(used >> std::min(column, kToldApart) & 1);
  }
  cursor.constraints.clear();
  cursor.is_sure = true;
  for (int index = 0; !rest.empty(); ++index) {
    int op = 0;
    size_t column = 0;
    rest.remove_prefix(1);
    read(op, 10);
    rest.remove_prefix(1);
    read(column, 10);
    wanted[column] = 1;
    auto constraint = Constraint::make(op, column, cursor.types[column], values[index]);
    if (constraint)
      cursor.constraints.push_back(std::move(*constraint));
    else
      cursor.is_sure = false;
  }
  cursor.number = 0;
  cursor.rows->begin(wanted);
  return go_on(base);
}

int is_over(sqlite3_vtab_cursor* cursor) {
  return static_cast<Cursor*>(cursor)->is_over ? 1 : 0;
}

int give_cell(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  auto& cursor = *static_cast<Cursor*>(base);
  const auto index = static_cast<size_t>(column);
  // The text dies with the row, and SQLite may keep it longer.
  give_value(context, read_value(cursor.rows->cell(index), cursor.types[index]),
             get_table(base->pVtab).tables->may_borrow);
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
